/**
 * Where a session works: a home under its lock, held open.
 *
 * The lock lets one holder at a time use a home, across processes, by a lock on the permanent file `.memcell/lock`. The
 * kernel releases it when the holder ends, however it ends. A process first takes the lock of `.memcell/turnstile` and
 * keeps it until it has the other. So one process waits in front, and a process that has just released the lock cannot
 * take it again first. A holder that wants to keep the lock after its call asks the turnstile whether somebody waits.
 */
import { setTimeout } from "node:timers/promises";

import type { ErrorCode } from "../../../shared/errors.ts";
import type { Directory, DiskFile, FileUse } from "../../disk/directory.ts";
import { isReadOnly } from "../../disk/disk-failure.ts";
import { releaseFileLock, tryFileLock } from "../../disk/native-calls.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { EndSignal } from "../../values/turns.ts";
import type { StoreSettings } from "../definition.ts";
import type { HandedHome } from "../reading.ts";
import type { HomeMemo } from "./home-memo.ts";
import { hostFolder, shownAs } from "./home.ts";
import type { FileHome } from "./home.ts";
import type { OldLog } from "./journal/format-3-log.ts";
import type { Journal } from "./journal/journal.ts";
import { ScopeFolders } from "./scope-folders.ts";
import type { HomeFolder } from "./scope-folders.ts";

export const lockFile = "lock";
export const turnstileFile = "turnstile";

/** How often the lock is tried again: a call holds it for a few milliseconds. */
const pollMs = 1;

/** How to wait for a lock. */
export interface Waiting {
  /** Whether the lock file may be made. If not, a home to which no host has written has no lock: `null`. */
  readonly make: boolean;
  /** Whether a read-only disk is enough. */
  readonly readOnlyWillDo: boolean;
  /** Whether to only read, as on a read-only disk: then others can read at the same time. */
  readonly isReadOnly?: boolean;
  /** Whether the lock file may have several names, so that it can be made a file of its own under the lock. */
  readonly isLinked?: boolean;
  /** When to give up, on the clock of `performance.now()`. */
  readonly until: number;
  /** Ends the wait; its reason is thrown. */
  readonly signal?: EndSignal | undefined;
}

/** Takes a home's lock; `null` if there is none to take. Throws `BUSY` if another process keeps it for too long. */
export async function lockHome(own: Directory, { kind }: FileHome, waiting: Waiting): Promise<HomeLock | null> {
  const wait = { ...waiting, shown: shownAs[kind], beganMs: performance.now() };
  for (;;) {
    const lock = openLock(own, lockFile, waiting);
    if (lock === null) return null;
    let turnstile: OpenLock | null = null;
    try {
      turnstile = openLock(own, turnstileFile, { ...waiting, make: !lock.isReadOnly });
      const hasWaitedInFront = turnstile !== null && (await waitForLock(turnstile, wait));
      const hasWaited = (await waitForLock(lock, wait)) || hasWaitedInFront;
      if (turnstile !== null && !releaseFileLock(turnstile.file)) {
        turnstile.file[Symbol.dispose]();
        turnstile = null;
      }
      const held = new HomeLock(lock, turnstile, hasWaited);
      // If someone has removed the file, others lock the new one, so this tries again.
      if (held.isInPlace(own)) return held;
    } catch (error) {
      closeLocks(lock, turnstile);
      throw error;
    }
    closeLocks(lock, turnstile);
  }
}

/** Takes a home's lock if it is free now. */
export function lockNow(own: Directory): Disposable | null {
  const lock = openLock(own, lockFile, { make: false, readOnlyWillDo: false });
  const held = lock && new HomeLock(lock, null, false);
  if (held !== null && tryFileLock(held.file, "exclusive") && held.isInPlace(own)) return held;
  held?.[Symbol.dispose]();
  return null;
}

/** A lock file that is held open. */
interface OpenLock {
  readonly file: DiskFile;
  /** The disk is read-only, or nothing may be written: others can read at the same time. */
  readonly isReadOnly: boolean;
}

/** A lock that is held. Disposing of it releases the lock. */
export class HomeLock implements OpenLock, Disposable {
  readonly file: DiskFile;
  readonly isReadOnly: boolean;
  /** Another holder had it first. */
  readonly hasWaited: boolean;
  /** Open, but not locked. */
  readonly #turnstile: OpenLock | null;

  constructor(opened: OpenLock, turnstile: OpenLock | null, hasWaited: boolean) {
    this.file = opened.file;
    this.isReadOnly = opened.isReadOnly;
    this.hasWaited = hasWaited;
    this.#turnstile = turnstile;
  }

  /** Whether its file is still in the host's own folder. */
  isInPlace(own: Directory): boolean {
    return own.identityOf(lockFile) === this.file.identity;
  }

  /** Whether another holder waits in front. `true` too if that cannot be told: then the lock must not be kept. */
  isWaitedFor(): boolean {
    const turnstile = this.#turnstile?.file;
    try {
      return turnstile === undefined || !tryFileLock(turnstile, "exclusive") || !releaseFileLock(turnstile);
    } catch {
      return true;
    }
  }

  [Symbol.dispose](): void {
    closeLocks(this, this.#turnstile);
  }
}

function closeLocks(...locks: readonly (OpenLock | null)[]): void {
  for (const lock of locks) lock?.file[Symbol.dispose]();
}

function openLock(
  own: Directory,
  name: string,
  { make, readOnlyWillDo, isReadOnly: onlyReads = false, isLinked = false }: Omit<Waiting, "until">,
): OpenLock | null {
  const open = (use: FileUse): OpenLock | null => {
    const file = own.openFile(name, name, use);
    return file && { file, isReadOnly: use === "read" };
  };
  if (onlyReads) return open("read");
  try {
    return (isLinked ? open("lock") : null) ?? open(make ? "make" : "write");
  } catch (error) {
    if (!readOnlyWillDo || !isReadOnly(error)) throw error;
    return open("read");
  }
}

/** Returns whether it had to wait. A file that is opened read-only can only take a shared lock. */
async function waitForLock(
  lock: OpenLock,
  { until, signal, shown, beganMs }: Waiting & { readonly shown: string; readonly beganMs: number },
): Promise<boolean> {
  const mode = lock.isReadOnly ? "shared" : "exclusive";
  let hasWaited = false;
  while (!tryFileLock(lock.file, mode)) {
    signal?.throwIfAborted();
    if (performance.now() >= until) {
      const waitedMs = Math.round(performance.now() - beganMs);
      throw new ToolError("BUSY", `Cannot use ${shown}: it has been in use for ${waitedMs} ms`);
    }
    hasWaited = true;
    await setTimeout(pollMs);
  }
  return hasWaited;
}

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
