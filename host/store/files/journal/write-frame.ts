/** Writes frames to a segment. */
import type { DiskFile } from "../../../disk/directory.ts";
import { isFullDisk } from "../../../disk/disk-failure.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import { headBytes, journalLimits } from "./format.ts";
import type { EncodedFrame } from "./format.ts";

/** A flush has failed. The frame does not count, and the next one begins a segment. */
export class FrameUnflushable extends ToolError {}

/** So many bytes are written before others get a turn. */
const bytesAtOnce = 4 * 1024 * 1024;

/** Writes a small frame at once, of a large one the head last: until then nobody finds half of it. */
export function* writeFrame(file: DiskFile, at: number, { head, body }: EncodedFrame): Pieces<void> {
  try {
    if (body.length <= bytesAtOnce) {
      reserve(file, at + head.length + body.length);
      return file.write(at, Buffer.concat([head, body]));
    }
    for (let from = 0; from < body.length; from += bytesAtOnce) {
      yield;
      file.write(at + head.length + from, body.subarray(from, from + bytesAtOnce));
    }
    file.write(at, head);
  } catch (error) {
    cutOff(file, at);
    throw error;
  }
}

/** What is left of a frame that could not be written must not stand behind the next one. */
function cutOff(file: DiskFile, at: number): void {
  try {
    if (file.size() > at) file.truncate(at);
  } catch {
    erase(file, at);
  }
}

/**
 * Doubles the file, filled with zeros, so that a flush seldom has to write a new size too. On a full disk the frame may
 * fit all the same.
 */
function reserve(file: DiskFile, end: number): void {
  const size = file.size();
  if (end <= size) return;
  const target = Math.max(end, Math.min(2 * Math.max(size, leastBytes), journalLimits.segmentBytes));
  try {
    file.write(size, Buffer.alloc(target - size));
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    file.truncate(size);
  }
}

/** Half of what the file of a new home takes. */
const leastBytes = 8 * 1024;

/** Erases a frame whose call has failed, so that nobody finds it. */
export function erase(file: DiskFile, at: number): void {
  try {
    if (file.size() > at) file.write(at, Buffer.alloc(Math.min(headBytes, file.size() - at)));
  } catch {
    // The caller reports the first failure. What is left of the frame was never acknowledged.
  }
}

/** It would be refused when it is read again. */
export const tooLong = (bytes: number): ToolError =>
  new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its journal would take ${bytes} bytes, at most ${journalLimits.fileBytesMax} allowed`,
  );
