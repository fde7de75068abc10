/**
 * One holder of a user at a time, across processes: a lock on the permanent file `.memcell/lock`, which the kernel
 * releases whatever becomes of the holder.
 *
 * Whoever wants it first takes the lock of `.memcell/turnstile` and keeps it until it has the other. So there is one who
 * waits in front, and a process that has just released the lock cannot take it again before that one.
 */
import { setTimeout } from "node:timers/promises";

import type { Directory, DiskFile } from "../../disk/directory.ts";
import { isReadOnly } from "../../disk/disk-failure.ts";
import { tryFileLock } from "../../disk/native-calls.ts";
import { ToolError } from "../../values/tool-error.ts";

const lockFile = "lock";
const turnstileFile = "turnstile";

/** Waiting for another process. The first rounds are short: a call holds the lock for a few milliseconds. */
const pollMs = 1;

export interface LockRequest {
  /** Whether the lock's file may be made. Without, a user that no host has written to has no lock: `null`. */
  readonly make: boolean;
  /** Whether a disk that cannot be written to will do. */
  readonly readOnlyWillDo: boolean;
  /** When to give up, on the clock of `performance.now()`. */
  readonly until: number;
  /** Ends the wait; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** Takes the lock of a user; `null` when there is none to take. `BUSY` when another process keeps it for too long. */
export async function lockUser(own: Directory, request: LockRequest): Promise<UserLock | null> {
  const beganMs = performance.now();
  for (;;) {
    const lock = openLock(own, lockFile, request);
    if (lock === null) return null;
    try {
      using turnstile = openLock(own, turnstileFile, { ...request, make: !lock.isReadOnly });
      const waits = [
        turnstile && (await waitForLock(turnstile, beganMs, request)),
        await waitForLock(lock, beganMs, request),
      ];
      // Someone has removed the file that was waited for. Others lock the one that is there now.
      if (lock.isInPlace(own)) return { ...lock, hasWaited: waits.includes(true) };
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
    lock[Symbol.dispose]();
  }
}

/** Disposing of it releases the lock. */
export interface UserLock extends Disposable {
  readonly file: DiskFile;
  /** The disk cannot be written to, and others may read at the same time. */
  readonly isReadOnly: boolean;
  /** Someone else had it first. */
  readonly hasWaited: boolean;
  /** Whether its file still lies in the host's own folder of the user. */
  isInPlace(own: Directory): boolean;
}

function openLock(own: Directory, name: string, request: LockRequest): Omit<UserLock, "hasWaited"> | null {
  let [file, onlyRead]: [DiskFile | null, boolean] = [null, false];
  try {
    file = own.openFile(name, name, request.make ? "make" : "write");
  } catch (error) {
    if (!request.readOnlyWillDo || !isReadOnly(error)) throw error;
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

/** Tells whether it had to wait. What is opened to be read alone can only be locked together with others. */
async function waitForLock(
  lock: Pick<UserLock, "file" | "isReadOnly">,
  beganMs: number,
  { until, signal }: LockRequest,
): Promise<boolean> {
  const mode = lock.isReadOnly ? "shared" : "exclusive";
  let hasWaited = false;
  while (!tryFileLock(lock.file, mode)) {
    signal?.throwIfAborted();
    if (performance.now() >= until) {
      const waitedMs = Math.round(performance.now() - beganMs);
      throw new ToolError("BUSY", `Cannot use the user's folder: it has been in use for ${waitedMs} ms`);
    }
    hasWaited = true;
    await setTimeout(pollMs);
  }
  return hasWaited;
}
