/** The lines of a file of any size, with one of them in memory at a time. */
import type { DiskFile } from "../disk/directory.ts";

export interface Line {
  /** The number among the lines that were read, from 1. */
  readonly number: number;
  /** Without its line feed; `null` when it is longer than a record can be. */
  readonly bytes: Buffer | null;
  readonly length: number;
  /** The file ends without a line feed after it. */
  readonly isTorn: boolean;
}

const lineFeed = 0x0a;
const chunkBytes = 256 * 1024;

/** Reads lines from the offset `start` on. Also reads lines that are added meanwhile. */
export function* readLines(file: DiskFile, lineBytesMax: number, start = 0): Generator<Line> {
  /** Of the line that has begun. Nothing of a line that is too long is kept. */
  let parts: Buffer[] = [];
  let [number, length, at] = [1, 0, start];
  const lineSoFar = (isTorn: boolean): Line => {
    const bytes = length > lineBytesMax ? null : Buffer.concat(parts);
    return { number, bytes, length, isTorn };
  };
  for (let chunk = file.read(at, chunkBytes); chunk.length > 0; chunk = file.read(at, chunkBytes)) {
    at += chunk.length;
    for (let from = 0, feed = 0; feed >= 0; from = feed + 1) {
      feed = chunk.indexOf(lineFeed, from);
      const part = chunk.subarray(from, feed < 0 ? chunk.length : feed);
      length += part.length;
      parts = length > lineBytesMax ? [] : [...parts, part];
      if (feed < 0) break;
      yield lineSoFar(false);
      [number, length, parts] = [number + 1, 0, []];
    }
  }
  if (length > 0) yield lineSoFar(true);
}

/** The end of a file of lines. */
export interface FileEnd {
  /** Bytes up to the end of the last whole line. */
  readonly wholeBytes: number;
  /** Bytes after it: of a line that was not finished. */
  readonly tornBytes: number;
  /** Where the last whole line begins; `null` without one. */
  readonly lastLineAt: number | null;
}

/** Reads a file backwards from its end, only as far as necessary. */
export function endOf(file: DiskFile): FileEnd {
  const wholeBytes = feedBefore(file, file.size()) + 1;
  const lastLineAt = wholeBytes === 0 ? null : feedBefore(file, wholeBytes - 1) + 1;
  return { wholeBytes, tornBytes: file.size() - wholeBytes, lastLineAt };
}

/** The offset of the last line feed before `end`; -1 when there is none. */
function feedBefore(file: DiskFile, end: number): number {
  for (let to = end; to > 0; to -= chunkBytes) {
    const from = Math.max(0, to - chunkBytes);
    const found = file.read(from, to - from).lastIndexOf(lineFeed);
    if (found >= 0) return from + found;
  }
  return -1;
}
