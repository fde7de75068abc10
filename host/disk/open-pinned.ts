/** Opens files of a folder that is held open. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { BigIntStats } from "node:fs";

import { checkComponent } from "./component.ts";
import type { FileUse } from "./directory.ts";
import { failureOfFile, isMissing, systemCode } from "./disk-failure.ts";
import type { FolderHandle } from "./folder-handle.ts";
import { giveToOwnerOf } from "./permissions.ts";
import { checkPlainFile, PinnedFile } from "./pinned-file.ts";

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Opening never follows a link and never waits, not even for the other end of a pipe. */
const safely = O_NOFOLLOW | O_NONBLOCK;
const openFlags: Readonly<Record<Exclude<FileUse, "make">, number>> = {
  read: O_RDONLY | safely,
  write: O_RDWR | safely,
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
    descriptor = use === "make" ? openOrMake(folder, path) : openSync(path, openFlags[use]);
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

/**
 * Opens a file, and makes it if there is none. Only what this has made gets another owner: a file in its place can be
 * anybody's.
 */
export function openOrMake(folder: FolderHandle, path: string): number {
  for (let attempt = 1; ; attempt++) {
    try {
      return openSync(path, openFlags.write);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    try {
      return openNew(folder, path);
    } catch (error) {
      // Somebody else has made it meanwhile.
      if (systemCode(error) !== "EEXIST" || attempt === attemptsMax) throw error;
    }
  }
}

const attemptsMax = 3;

/** Opens a file that must not exist yet; only its owner can use it. Returns its descriptor. */
export function openNew(folder: FolderHandle, path: string): number {
  const descriptor = openSync(path, openFlags.write | O_CREAT | O_EXCL, 0o600);
  try {
    // A new file is plain, and nobody else's.
    if (!folder.isHeldOpen) folder.checkOpened(path, fstatSync(descriptor, { bigint: true }));
    giveToOwnerOf(folder, { descriptor });
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
