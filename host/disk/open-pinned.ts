/** Opens files of a folder that is held open. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { BigIntStats } from "node:fs";

import { checkComponent } from "./component.ts";
import type { FileUse } from "./directory.ts";
import { failureOfFile, isMissing } from "./disk-failure.ts";
import type { FolderHandle } from "./folder-handle.ts";
import { checkPlainFile, PinnedFile } from "./pinned-file.ts";

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Opening never follows a link and never waits, not even for the other end of a pipe. */
const safely = O_NOFOLLOW | O_NONBLOCK;
const openFlags = {
  read: O_RDONLY | safely,
  write: O_RDWR | safely,
  make: O_RDWR | O_CREAT | safely,
  // Only Windows needs write permission for a flush. A person can have taken that permission away.
  flush: (process.platform === "win32" ? O_RDWR : O_RDONLY) | safely,
  lock: O_RDWR | safely,
};

interface Opening {
  /** How messages name the file. */
  readonly shown: string;
  readonly use: FileUse;
  /** Throws for a file that must not be used. Default: for one that is not plain. */
  readonly check?: (facts: BigIntStats) => void;
}

/** `null` if there is no such file and `use` does not make it. */
export function openPinned(folder: FolderHandle, name: string, { shown, use, check }: Opening): PinnedFile | null {
  let descriptor: number | undefined;
  try {
    const path = folder.child(checkComponent(name));
    descriptor = openSync(path, openFlags[use], 0o600);
    const facts = fstatSync(descriptor, { bigint: true });
    if (check === undefined) checkPlainFile(facts, shown);
    else check(facts);
    folder.checkOpened(path, facts);
    return new PinnedFile(descriptor, facts, shown);
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    if (isMissing(error) && use !== "make") return null;
    throw failureOfFile(error, shown);
  }
}

/** Opens a file that must not exist yet; only the host's user can use it. Returns its descriptor. */
export function openNew(folder: FolderHandle, path: string): number {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | safely, 0o600);
  try {
    // A new file is plain, and nobody else's.
    if (!folder.isHeldOpen) folder.checkOpened(path, fstatSync(descriptor, { bigint: true }));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
