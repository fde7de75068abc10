/** The lines of a file of any size, with one of them in memory at a time. */
import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";

import type { DiskFile } from "../disk/directory.ts";
import { hashOf } from "./chain.ts";

export interface Line {
  /** The number among the lines that were read, from 1. */
  readonly number: number;
  /** Without its line feed; `null` when it is longer than a record can be. */
  readonly bytes: Buffer | null;
  readonly length: number;
  /** Its hash in a chain. Computed on demand: a file can have very many short lines. */
  readonly hash: () => string;
  /** The file ends without a line feed after it. */
  readonly isTorn: boolean;
}

const lineFeed = 0x0a;
const chunkBytes = 256 * 1024;

/** Reads lines from the offset `start` on. Also reads lines that are added meanwhile. */
export function* readLines(file: DiskFile, lineBytesMax: number, start = 0): Generator<Line> {
  let begun = new BegunLine(lineBytesMax);
  let [number, at] = [1, start];
  for (let chunk = file.read(at, chunkBytes); chunk.length > 0; chunk = file.read(at, chunkBytes)) {
    at += chunk.length;
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      yield begun.end(chunk.subarray(from, end), number++, false);
      begun = new BegunLine(lineBytesMax);
      from = end + 1;
    }
    begun.add(chunk.subarray(from));
  }
  if (begun.length > 0) yield begun.end(Buffer.of(), number, true);
}

/** A line that can go on in the next chunk. Of a line that is too long, only the hash and the length are kept. */
class BegunLine {
  length = 0;
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #hash: Hash | null = null;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.length += part.length;
    (this.#hash ??= createHash("sha256")).update(part);
    if (this.length > this.#bytesMax) this.#parts = [];
    else this.#parts.push(part);
  }

  end(part: Buffer, number: number, isTorn: boolean): Line {
    // Most lines are within one chunk and are not copied.
    if (this.#hash === null) return { number, isTorn, bytes: part, length: part.length, hash: () => hashOf(part) };
    this.add(part);
    const digest = this.#hash.digest("hex");
    const bytes = this.length > this.#bytesMax ? null : Buffer.concat(this.#parts);
    return { number, isTorn, bytes, length: this.length, hash: () => digest };
  }
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
  const size = file.size();
  const wholeBytes = feedBefore(file, size) + 1;
  const lastLineAt = wholeBytes === 0 ? null : feedBefore(file, wholeBytes - 1) + 1;
  return { wholeBytes, tornBytes: size - wholeBytes, lastLineAt };
}

/** The offset of the last line feed before `end`; -1 when there is none. */
function feedBefore(file: DiskFile, end: number): number {
  for (let to = end; to > 0;) {
    const from = Math.max(0, to - chunkBytes);
    const found = file.read(from, to - from).lastIndexOf(lineFeed);
    if (found >= 0) return from + found;
    to = from;
  }
  return -1;
}
