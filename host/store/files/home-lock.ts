/**
 * Lets one holder at a time use a home, across processes: by a lock on the permanent file `.memcell/lock`. The kernel
 * releases it when the holder ends, however it ends.
 *
 * A process first takes the lock of `.memcell/turnstile` and keeps it until it has the other. So one process waits in
 * front, and a process that has just released the lock cannot take it again first. A holder that wants to keep the lock
 * after its call asks the turnstile whether somebody waits.
 */
import { setTimeout } from "node:timers/promises";

import type { Directory, DiskFile } from "../../disk/directory.ts";
import { isReadOnly } from "../../disk/disk-failure.ts";
import { releaseFileLock, tryFileLock } from "../../disk/native-calls.ts";
import type { EndSignal } from "../../values/call-ending.ts";
import { ToolError } from "../../values/tool-error.ts";

export const lockFile = "lock";
export const turnstileFile = "turnstile";

/** How often the lock is tried again: a call holds it for a few milliseconds. */
const pollMs = 1;

export interface LockRequest {
  /** How messages name the home. */
  readonly shown: string;
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
export async function lockHome(own: Directory, request: LockRequest): Promise<HomeLock | null> {
  const beganMs = performance.now();
  for (;;) {
    const lock = openLock(own, lockFile, request);
    if (lock === null) return null;
    let turnstile: OpenLock | null = null;
    try {
      turnstile = openLock(own, turnstileFile, { ...request, make: !lock.isReadOnly });
      const hasWaited = [
        turnstile && (await waitForLock(turnstile, beganMs, request)),
        await waitForLock(lock, beganMs, request),
      ].includes(true);
      if (turnstile !== null && !releaseFileLock(turnstile.file)) {
        turnstile[Symbol.dispose]();
        turnstile = null;
      }
      // If someone has removed the file, others lock the new one, so this tries again.
      if (lock.isInPlace(own)) return new HomeLock(lock, turnstile, hasWaited);
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
  if (lock !== null && tryFileLock(lock.file, "exclusive") && lock.isInPlace(own)) return lock;
  lock?.[Symbol.dispose]();
  return null;
}

/** A lock that is held. Disposing of it releases the lock. */
export class HomeLock implements Disposable {
  /** Another holder had it first. */
  readonly hasWaited: boolean;
  readonly #lock: OpenLock;
  /** Open, but not locked. */
  readonly #turnstile: OpenLock | null;

  constructor(lock: OpenLock, turnstile: OpenLock | null, hasWaited: boolean) {
    this.hasWaited = hasWaited;
    this.#lock = lock;
    this.#turnstile = turnstile;
  }

  /** The disk is read-only, or nothing may be written: others can read at the same time. */
  get isReadOnly(): boolean {
    return this.#lock.isReadOnly;
  }

  /** Of its file. */
  get identity(): string {
    return this.#lock.file.identity;
  }

  /** Whether its file is still in the host's own folder. */
  isInPlace(own: Directory): boolean {
    return this.#lock.isInPlace(own);
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
    closeLocks(this.#lock, this.#turnstile);
  }
}

function closeLocks(...locks: readonly (OpenLock | null)[]): void {
  for (const lock of locks) lock?.[Symbol.dispose]();
}

/** A lock file that is held open. */
interface OpenLock extends Disposable {
  readonly file: DiskFile;
  readonly isReadOnly: boolean;
  isInPlace(own: Directory): boolean;
}

function openLock(
  own: Directory,
  name: string,
  request: Pick<LockRequest, "make" | "readOnlyWillDo" | "isReadOnly" | "isLinked">,
): OpenLock | null {
  let [file, onlyRead]: [DiskFile | null, boolean] = [null, request.isReadOnly === true];
  try {
    if (onlyRead) file = own.openFile(name, name, "read");
    else {
      file = request.isLinked === true ? own.openFile(name, name, "lock") : null;
      file ??= own.openFile(name, name, request.make ? "make" : "write");
    }
  } catch (error) {
    if (onlyRead || !request.readOnlyWillDo || !isReadOnly(error)) throw error;
    file = own.openFile(name, name, "read");
    onlyRead = true;
  }
  if (file === null) return null;
  const opened = file;
  return {
    file: opened,
    isReadOnly: onlyRead,
    isInPlace: (folder) => folder.identityOf(name) === opened.identity,
    [Symbol.dispose]: () => opened[Symbol.dispose](),
  };
}

/** Returns whether it had to wait. A file that is opened read-only can only take a shared lock. */
async function waitForLock(lock: OpenLock, beganMs: number, { shown, until, signal }: LockRequest): Promise<boolean> {
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
