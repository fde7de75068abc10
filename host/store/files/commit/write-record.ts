import type { DiskFile } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import type { Pieces } from "../../../values/turns.ts";
import { headBytes, recordsStart } from "./wal-format.ts";
import { walLimits } from "./wal-limits.ts";

/** A flush has failed. The record does not count, and the WAL's file has to be replaced. */
export class WalUnflushable extends Error {}

/** Writes a record into a WAL: a small one at once, its head last otherwise. One that fails is erased. */
export function* writeRecord(file: DiskFile, at: number, head: Buffer, json: Buffer): Pieces<void> {
  try {
    if (json.length <= bytesAtOnce) {
      reserve(file, at + head.length + json.length);
      return file.write(at, Buffer.concat([head, json]));
    }
    for (let from = 0; from < json.length; from += bytesAtOnce) {
      yield;
      file.write(at + head.length + from, json.subarray(from, from + bytesAtOnce));
    }
    // Until then nobody finds half of it.
    file.write(at, head);
  } catch (error) {
    erase(file, at);
    throw error;
  }
}

const bytesAtOnce = 4 * 1024 * 1024;

/** After a failed flush, the system can take the pages for written, so the file must not be flushed again. */
export async function flushRecord(file: DiskFile, at: number): Promise<void> {
  try {
    await file.flush(true);
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
