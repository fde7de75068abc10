import type { DiskFile } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { headBytes, recordsStart } from "./wal-format.ts";
import { walLimits } from "./wal-limits.ts";

/** A flush has failed. The record does not count, and the WAL's file has to be replaced. */
export class WalUnflushable extends Error {}

/** Writes a record into a WAL. One that fails is erased. */
export function writeRecord(file: DiskFile, at: number, bytes: Uint8Array): void {
  try {
    reserve(file, at + bytes.length);
    file.write(at, bytes);
  } catch (error) {
    erase(file, at);
    throw error;
  }
}

/** After a failed flush, the system can take the pages for written, so the file must not be flushed again. */
export async function flushRecord(file: DiskFile, at: number, isAlone: boolean): Promise<void> {
  try {
    await file.flush(isAlone);
  } catch (error) {
    erase(file, at);
    throw new WalUnflushable("The WAL could not be flushed", { cause: error });
  }
}

/**
 * Doubles the file, filled with zeros, so that a flush seldom has to write a new size too. On a full disk the record may
 * fit all the same.
 */
function reserve(file: DiskFile, end: number): void {
  const size = file.size();
  if (end <= size) return;
  const target = Math.max(end, Math.min(2 * size, walLimits.retireBytes));
  try {
    file.write(size, Buffer.alloc(target - size));
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    file.truncate(size);
  }
}

/** Clears the room of records that were dropped, and frees most of it. */
export function clearRoom(file: DiskFile): void {
  let left = Math.max(recordsStart, Math.min(file.size(), walLimits.idleBytes));
  try {
    file.write(recordsStart, Buffer.alloc(left - recordsStart));
  } catch {
    left = recordsStart;
  }
  file.truncate(left);
}

/** Erases a record whose call has failed, so that nobody finds it. */
function erase(file: DiskFile, at: number): void {
  try {
    if (file.size() > at) file.write(at, Buffer.alloc(Math.min(headBytes, file.size() - at)));
  } catch {
    // The caller reports the first failure. What is left of the record was never acknowledged.
  }
}
