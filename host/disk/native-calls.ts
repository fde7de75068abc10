/** Kernel functions that Node does not offer. Only this file imports fs-native-extensions. */
import { swapSync, tryLock, unlock } from "fs-native-extensions";

import { ToolError } from "../values/tool-error.ts";
import type { DiskFile } from "./directory.ts";

/**
 * Takes a lock on an open file if it is free. The lock belongs to this opening of the file, so it also keeps out other
 * threads and other runtimes of this process. Closing the file releases it, and so does the end of the process.
 */
export function tryFileLock(file: Pick<DiskFile, "descriptor">, mode: "exclusive" | "shared"): boolean {
  const { descriptor } = file;
  try {
    return tryLock(descriptor, { shared: mode === "shared" });
  } catch (error) {
    // The package's errors do not show whether they come from the system. Here all of them do.
    throw new ToolError("STORAGE_FAILED", "Cannot lock the user's folder: the disk refused", { cause: error });
  }
}

/** Gives up a lock that `tryFileLock` has taken. `false` if the system refuses: then only closing the file releases it. */
export function releaseFileLock({ descriptor }: Pick<DiskFile, "descriptor">): boolean {
  try {
    unlock(descriptor);
    return true;
  } catch {
    return false;
  }
}

/** Exchanges the files of two names in one step. Follows no link. `false` if it cannot be done. */
export function exchangeNames(path: string, other: string): boolean {
  try {
    swapSync(path, other);
    return true;
  } catch {
    // Whatever the reason: the caller's rename meets it too and reports it.
    return false;
  }
}
