/** Locks that the kernel releases whatever becomes of their holder. Sole importer of fs-native-extensions. */
import { tryLock } from "fs-native-extensions";

import type { DiskFile } from "./directory.ts";
import { failureOfDisk } from "./disk-failure.ts";

/**
 * Takes a lock on an open file if it is free. It belongs to this opening of the file, so it keeps other threads and
 * other runtimes of this process out as well; closing the file releases it.
 */
export function tryFileLock(file: DiskFile, mode: "exclusive" | "shared"): boolean {
  try {
    return tryLock(file.descriptor, { shared: mode === "shared" });
  } catch (error) {
    throw failureOfDisk(error, "lock the user's folder");
  }
}
