/** Holds a home to read it as it is, where nothing may be written. */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { isOfOtherBoot, WalDamaged } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { judgeFiles } from "./commit/judge-files.ts";
import { Wal } from "./commit/wal.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockHome } from "./home-lock.ts";
import type { LockRequest } from "./home-lock.ts";
import { shownAs } from "./home.ts";
import type { Home } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";

/**
 * Takes a home's lock and writes nothing; `null` if there is no folder. Others can read at the same time. Throws
 * `STORAGE_FAILED` if a crash has left something that recovery would finish: a read would see a change half done, or miss
 * one that was acknowledged. `boot` is the machine's boot id.
 */
export async function lockFinished(
  home: Home,
  waiting: Pick<LockRequest, "until" | "signal">,
  boot: string | null,
): Promise<FinishedHome | null> {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  if (folder === null || own === null) return null;
  const shown = shownAs[home.kind];
  const lock = await lockHome(own, { ...waiting, shown, make: false, readOnlyWillDo: true, isReadOnly: true });
  try {
    const { isUnfinished, tail } = look(home, { inside: folder.home, own }, boot);
    if (isUnfinished) throw unfinished(shown);
    return { isLocked: lock !== null, tail, [Symbol.dispose]: () => lock?.[Symbol.dispose]() };
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw error;
  }
}

/** A home that is held for reading, until it is disposed of. */
export interface FinishedHome extends Disposable {
  /** A disk that cannot be written has perhaps no lock. */
  readonly isLocked: boolean;
  /** `null` if there is no WAL. */
  readonly tail: WalTail | null;
}

const unfinished = (shown: string): ToolError =>
  new ToolError(
    "STORAGE_FAILED",
    `Cannot read ${shown}: an interrupted change is unfinished, which a read-only runtime leaves to others ` +
      '("memcell doctor --fix" finishes it)',
  );

interface HomeParts {
  readonly inside: Directory;
  /** The host's own folder. */
  readonly own: Directory;
}

interface Looked {
  /** Whether recovery would change a file that a read can see. */
  readonly isUnfinished: boolean;
  readonly tail: WalTail | null;
}

function look(home: Home, { inside, own }: HomeParts, boot: string | null): Looked {
  try {
    using wal = Wal.open(own, home, { isRead: true });
    if (wal === null) return { isUnfinished: false, tail: null };
    const { tail } = wal;
    if (!wal.isDistrusted && !isOfOtherBoot(wal.records, boot)) {
      return { isUnfinished: wal.records.at(-1)?.isApplied === false, tail };
    }
    using folders = new ScopeFolders(inside, { kind: home.kind, folds: new Map() });
    const judged = judgeFiles({ own, folders, wal });
    return { isUnfinished: judged.some(({ verdict }) => verdict === "put back" || verdict === "removed"), tail };
  } catch (error) {
    // What it said is unknown.
    if (error instanceof WalDamaged) return { isUnfinished: true, tail: null };
    throw error;
  }
}
