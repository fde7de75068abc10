/** Where a session works: a home under its lock, held open. */
import type { ErrorCode } from "../../../shared/errors.ts";
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { StoreSettings } from "../definition.ts";
import type { HandedHome } from "../reading.ts";
import { lockFile } from "./home-lock.ts";
import type { HomeLock } from "./home-lock.ts";
import type { HomeMemo } from "./home-memo.ts";
import { hostFolder, shownAs } from "./home.ts";
import type { FileHome } from "./home.ts";
import type { OldLog } from "./journal/format-3-log.ts";
import type { Journal } from "./journal/journal.ts";
import { ScopeFolders } from "./scope-folders.ts";
import type { HomeFolder } from "./scope-folders.ts";

/** What a session starts with. */
export interface SessionSetup {
  readonly memo: HomeMemo;
  /** Whether to repair what an ordinary call can leave for later. */
  readonly isThorough: boolean;
  readonly isFlushed: boolean;
  /** The machine's boot id. */
  readonly boot: string | null;
  readonly note: (text: string) => void;
  readonly settings: StoreSettings;
}

/** The disk did not let the check be made. */
const unseenCodes: ReadonlySet<ErrorCode> = new Set(["STORAGE_FAILED", "STORAGE_BUSY"]);

/** Takes over folder and lock. Disposing of it closes everything and releases the lock. */
export class SessionPlace implements Disposable {
  readonly setup: SessionSetup;
  readonly home: FileHome;
  readonly memo: HomeMemo;
  readonly folder: HomeFolder;
  /** The host's own folder in the home. */
  readonly own: Directory;
  readonly lock: HomeLock;
  /** `null` if there is none yet. */
  journal: Journal | null = null;
  /** The log of an earlier format, until the home has a journal. */
  log: OldLog | null = null;
  #scopes: ScopeFolders | null = null;

  constructor(setup: SessionSetup, folder: HomeFolder, own: Directory, lock: HomeLock) {
    this.setup = setup;
    this.memo = setup.memo;
    this.home = setup.memo.home;
    this.folder = folder;
    this.own = own;
    this.lock = lock;
  }

  /** Whether lock and journal are where and as they were, for a session that was kept. */
  isStill(): boolean {
    return this.#isLockInWay() && this.journal?.isStill() === true;
  }

  /**
   * Whether the lock's path leads to it. The file has one name, and a folder is in one other folder only, so then all
   * folders above are in their places. A person can move the lock and what it protects apart: scopes are compared, too.
   */
  #isLockInWay(): boolean {
    return this.folder.identityAt([hostFolder, lockFile]) === this.lock.file.identity;
  }

  /** The scopes of a change. They stay open for the next one, as long as they are in their places. */
  scopes(): ScopeFolders {
    if (!this.#areScopesInWay()) this.#closeScopes();
    this.#scopes ??= this.walk();
    return this.#scopes;
  }

  /** Walks to scopes again, for one piece of work. The caller closes them. */
  walk(): ScopeFolders {
    const { home } = this.folder;
    return new ScopeFolders(home, { kind: this.home.kind, folds: this.memo.foldsOf(home) });
  }

  /** For threads that read. */
  get handed(): HandedHome | null {
    const { home } = this.folder;
    const folder = home.handed;
    return folder && { key: this.home.key, folder, folds: this.memo.foldsOf(home) };
  }

  /** Closes what no further call needs, before it is kept for one. */
  rest(): void {
    this.folder.closeAbove();
    this.#scopes?.trim();
    this.journal?.rest();
  }

  /** Throws if the folder was moved away meanwhile, for example by a restore: changes in it would be lost. */
  check(): void {
    this.checkLock();
    if (!this.#areScopesInWay()) throw this.#lost("it was moved away while the call ran");
  }

  /** Throws if the lock's file was removed, so that it keeps nobody out any more, or if its folder was moved away. */
  checkLock(): void {
    if (this.#isLockInWay()) return;
    const isThere = this.lock.isInPlace(this.own);
    throw this.#lost(`${isThere ? "it was moved away" : "its lock was removed"} while the call ran`);
  }

  /**
   * Checks the place after a commit. Throws `STORAGE_FAILED` if the folder has been moved away, although the change is
   * committed. If the disk does not allow the check, the call succeeds.
   */
  checkCommitted(): void {
    try {
      this.check();
    } catch (error) {
      const isUnseen = error instanceof ToolError && unseenCodes.has(error.tableCode) && error.cause !== undefined;
      if (!isUnseen) throw error;
      this.memo.tail = null;
      this.setup.note(`a committed change could not be checked again (${error.message})`);
    }
  }

  #areScopesInWay(): boolean {
    return this.#scopes?.areUnchanged((names) => this.folder.identityAt(names)) !== false;
  }

  #lost(why: string): ToolError {
    this.memo.tail = null;
    return new ToolError("STORAGE_FAILED", `Cannot change ${shownAs[this.home.kind]}: ${why}`);
  }

  #closeScopes(): void {
    this.#scopes?.[Symbol.dispose]();
    this.#scopes = null;
  }

  [Symbol.dispose](): void {
    this.journal?.[Symbol.dispose]();
    this.#closeScopes();
    this.folder[Symbol.dispose]();
    this.lock[Symbol.dispose]();
  }
}
