import type { Directory } from "../../disk/directory.ts";
import type { UserId } from "../../values/user-id.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { WalTail } from "./commit/find-records.ts";
import type { TouchedFile } from "./commit/retire.ts";
import { walLimits } from "./commit/wal-limits.ts";
import type { KeptHistories } from "./history/kept-histories.ts";
import type { QueuedVersions } from "./history/queued-versions.ts";
import type { FileHome, HomeKind } from "./home.ts";

/** What a session starts with. */
export interface SessionSetup {
  readonly home: FileHome;
  readonly memo: HomeMemo;
  /** Whether the folder records its owner. */
  readonly isOwned: boolean;
  /** Whether to repair what an ordinary call can leave for later. */
  readonly isThorough: boolean;
  readonly isFlushed: boolean;
  readonly boot: string | null;
  readonly note: (text: string) => void;
  readonly histories: KeptHistories;
  readonly settings: StoreSettings;
}

/** What a store remembers about a home between two calls. */
export class HomeMemo {
  /** The WAL as this process has left it; `null` if it has to be read. */
  tail: WalTail | null = null;
  /** The identity of the host's own folder, once it is known to record its owner. */
  ownedIdentity: string | null = null;
  /** Who was last looked at as a store's creator. */
  seenCreator: UserId | null = null;
  readonly kind: HomeKind;
  /** Whether disks fold case, as `ScopeFolders` has found out: by folder, then by scope. */
  readonly #folds = new Map<string, Map<string, boolean>>();
  /** The files that the WAL's records have touched since the last checkpoint. */
  readonly touched = new Map<string, TouchedFile>();
  records = 0;
  /** The versions of the WAL's records, which are moved to the history when the WAL is retired. */
  readonly versions: QueuedVersions[] = [];
  /** The WAL's flush has failed: it is replaced before anything else is written. */
  isBroken = false;

  constructor(kind: HomeKind) {
    this.kind = kind;
  }

  foldsOf({ identity }: Directory): Map<string, boolean> {
    const folds = this.#folds.get(identity) ?? new Map<string, boolean>();
    this.#folds.set(identity, folds);
    return folds;
  }

  touch({ scope, path }: TouchedFile): void {
    this.touched.set(`${scope}:${path}`, { scope, path });
  }

  /** Whether the WAL, of so many bytes, is long enough to be retired. */
  isLong(walBytes: number): boolean {
    const { retireBytes, retireRecords, retireFiles } = walLimits;
    return walBytes >= retireBytes || this.records >= retireRecords || this.touched.size >= retireFiles;
  }

  /** Whether the WAL has something to retire. */
  get hasRecords(): boolean {
    return this.touched.size > 0 || this.versions.length > 0;
  }

  /** Called when the WAL is empty. */
  forgetTouched(): void {
    this.touched.clear();
    this.records = 0;
    this.versions.length = 0;
  }
}
