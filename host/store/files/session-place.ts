/** Where a session works: the home, its lock and its scopes, all held open, and whether their paths lead to them still. */
import type { ErrorCode } from "../../../shared/errors.ts";
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { HomeFolder } from "./home-folder.ts";
import { lockFile } from "./home-lock.ts";
import type { HomeLock } from "./home-lock.ts";
import { hostFolder, shownAs } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";
import type { SessionSetup } from "./session-setup.ts";

/** The disk did not let the check be made. */
const unseenCodes: ReadonlySet<ErrorCode> = new Set(["STORAGE_FAILED", "STORAGE_BUSY"]);

/** Disposing of it closes everything and releases the lock. */
export class SessionPlace implements Disposable {
  readonly folder: HomeFolder;
  /** The host's own folder in the home. */
  readonly own: Directory;
  readonly #setup: SessionSetup;
  readonly #lock: HomeLock;
  #scopes: ScopeFolders | null = null;

  /** Takes over folder and lock. */
  constructor(setup: SessionSetup, folder: HomeFolder, own: Directory, lock: HomeLock) {
    this.#setup = setup;
    this.folder = folder;
    this.own = own;
    this.#lock = lock;
  }

  /** Whether the folder is the home still: who held the lock before has perhaps moved it away. */
  get isHome(): boolean {
    return this.#lock.hasWaited ? this.folder.isUnchanged() : this.folder.isNamed;
  }

  /** Whether another holder waits for the lock. */
  isWaitedFor(): boolean {
    return this.#lock.isWaitedFor();
  }

  /**
   * Whether the lock's path leads to it. The file has one name, and a folder is in one other folder only, so then all
   * folders above are in their places. A person can move the lock and what it protects apart: scopes are compared, too.
   */
  isLockInWay(): boolean {
    return this.folder.identityAt([hostFolder, lockFile]) === this.#lock.identity;
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
    const { memo } = this.#setup;
    return new ScopeFolders(home, { kind: memo.kind, folds: memo.foldsOf(home) });
  }

  /** Closes what no further call needs. */
  rest(): void {
    this.folder.closeAbove();
    this.#scopes?.trim();
  }

  /** Throws if the folder was moved away meanwhile, for example by a restore: changes in it would be lost. */
  check(): void {
    this.checkLock();
    if (!this.#areScopesInWay()) throw this.#lost("it was moved away while the call ran");
  }

  /** Throws if the lock's file was removed, so that it keeps nobody out any more, or if its folder was moved away. */
  checkLock(): void {
    if (this.isLockInWay()) return;
    const isThere = this.#lock.isInPlace(this.own);
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
      this.#setup.memo.tail = null;
      this.#setup.note(`a committed change could not be checked again (${error.message})`);
    }
  }

  #areScopesInWay(): boolean {
    return this.#scopes?.areUnchanged((names) => this.folder.identityAt(names)) !== false;
  }

  #lost(why: string): ToolError {
    this.#setup.memo.tail = null;
    return new ToolError("STORAGE_FAILED", `Cannot change ${shownAs[this.#setup.home.kind]}: ${why}`);
  }

  #closeScopes(): void {
    this.#scopes?.[Symbol.dispose]();
    this.#scopes = null;
  }

  [Symbol.dispose](): void {
    this.#closeScopes();
    this.folder[Symbol.dispose]();
    this.#lock[Symbol.dispose]();
  }
}
