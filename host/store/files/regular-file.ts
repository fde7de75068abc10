/**
 * Opens files that are just files. Links are not followed, and what turns out to be anything but a regular file with
 * one name and an ordinary size is `STORAGE_UNSAFE`. Opening never waits: a FIFO is opened without blocking and refused.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, writeFileSync } from "node:fs";

import { storeLimits } from "../../../shared/limits.ts";
import { ToolError } from "../../tool-error.ts";
import { failureOfDisk, isMissing } from "./disk-failure.ts";

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The bytes of a file, or `null` when there is none. `shown` is how messages name it. */
export function readRegularFile(place: string, shown: string): Buffer | null {
  let file: number | undefined;
  try {
    file = openSync(place, readFlags);
    const refusal = whyUnsafe(fstatSync(file));
    if (refusal) throw new ToolError("STORAGE_UNSAFE", `Cannot read "${shown}": ${refusal}`);
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return null;
    throw failureOfDisk(error, `read "${shown}"`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Writes a file that must not exist yet. */
export function createRegularFile(place: string, content: string | Buffer, shown: string): void {
  let file: number | undefined;
  try {
    file = openSync(place, createFlags, 0o600);
    writeFileSync(file, content);
  } catch (error) {
    throw failureOfDisk(error, `write "${shown}"`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The bytes of a file, or `null` when there is none. Anything but a regular file there is `STORAGE_UNSAFE`. */
export function regularFileSize(place: string, shown: string): number | null {
  try {
    const facts = lstatSync(place);
    const refusal = whyUnsafe(facts);
    if (refusal) throw new ToolError("STORAGE_UNSAFE", `Cannot use "${shown}": ${refusal}`);
    return facts.size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw failureOfDisk(error, `use "${shown}"`);
  }
}

interface FileFacts {
  isFile(): boolean;
  readonly nlink: number;
  readonly size: number;
}

function whyUnsafe(facts: FileFacts): string | null {
  if (!facts.isFile()) return "it is not a regular file";
  if (facts.nlink !== 1) return `it has ${facts.nlink} names on the disk, only 1 is allowed`;
  if (facts.size > storeLimits.fileBytesMax) {
    return `it is ${facts.size} bytes, at most ${storeLimits.fileBytesMax} allowed`;
  }
  return null;
}
