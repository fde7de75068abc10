/** What the kernel can do and Node cannot ask for. Sole importer of fs-native-extensions. */
import { swapSync, tryLock } from "fs-native-extensions";

import { ToolError } from "../values/tool-error.ts";
import type { DiskFile } from "./directory.ts";

/**
 * Takes a lock on an open file if it is free. It belongs to this opening of the file, so it keeps other threads and
 * other runtimes of this process out as well; closing the file releases it, and the kernel does, whatever becomes of the
 * holder.
 */
export function tryFileLock(file: Pick<DiskFile, "descriptor">, mode: "exclusive" | "shared"): boolean {
  const { descriptor } = file;
  try {
    return tryLock(descriptor, { shared: mode === "shared" });
  } catch (error) {
    // The package's errors lack what tells the system's from ours; there is nothing of ours in there.
    throw new ToolError("STORAGE_FAILED", "Cannot lock the user's folder: the disk refused", { cause: error });
  }
}

/** Has two names take each other's files at one stroke. Follows no link. `false` when it cannot be done. */
export function exchangeNames(path: string, other: string): boolean {
  try {
    swapSync(path, other);
    return true;
  } catch {
    // Whatever it was: the rename that is done instead will meet it too, and can tell.
    return false;
  }
}
