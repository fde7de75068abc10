import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";

import { auditLimits } from "../../../shared/limits.ts";
import type { LogFile } from "./disk/log-file.ts";
import { hashOf } from "./record-line.ts";

export interface LogLine {
  /** The number among the lines that were read, from 1. */
  readonly number: number;
  /** Without its line feed; `null` when it is too long for a record. Valid only until the next line is requested. */
  readonly bytes: Uint8Array | null;
  readonly length: number;
  /** SHA-256 in hex; call it while `bytes` is valid. Computed on demand: a file can have very many short lines. */
  readonly hash: () => string;
  /** The file ends without a line feed after it. */
  readonly isTorn: boolean;
}

const chunkBytes = 256 * 1024;

/** Reads lines from an offset on, with only one in memory at a time. Also reads lines that are added meanwhile. */
export function* readLines(file: LogFile, start = 0): Generator<LogLine> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let begun = new BegunLine();
  let number = 1;
  let at = start;
  for (let filled = file.read(at, chunk); filled > 0; filled = file.read(at, chunk)) {
    at += filled;
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0 && end < filled; end = chunk.indexOf(lineFeed, from)) {
      yield { number, ...begun.end(chunk.subarray(from, end)), isTorn: false };
      begun = new BegunLine();
      number++;
      from = end + 1;
    }
    begun.add(chunk.subarray(from, filled));
  }
  if (begun.length > 0) yield { number, ...begun.end(Buffer.alloc(0)), isTorn: true };
}

export const lineFeed = 0x0a;

/** A line that continues in the next chunk. Only the hash and length of a line that is too long are kept. */
class BegunLine {
  length = 0;
  #parts: Uint8Array[] = [];
  #hash: Hash | null = null;

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.length += part.length;
    (this.#hash ??= createHash("sha256")).update(part);
    if (this.length > auditLimits.recordBytesMax) this.#parts = [];
    else this.#parts.push(Uint8Array.from(part));
  }

  end(part: Uint8Array): Pick<LogLine, "bytes" | "length" | "hash"> {
    // Most lines are within one chunk and are not copied.
    if (this.#hash === null) return { bytes: part, length: part.length, hash: () => hashOf(part) };
    this.add(part);
    const hash = this.#hash.digest("hex");
    const isTooLong = this.length > auditLimits.recordBytesMax;
    return { bytes: isTooLong ? null : Buffer.concat(this.#parts), length: this.length, hash: () => hash };
  }
}

/** A record's place in the chain. Records of other memcell versions have it too. */
export interface ChainPosition {
  readonly seq: number;
  /** The hash of the line before it. */
  readonly prev: string;
}

/** The size of a line that holds only a position. Shorter lines are not parsed, which saves time. */
export const recordBytesMin: number = JSON.stringify({ seq: 0, prev: "" }).length + 64;

/** Parses a line as JSON; returns `undefined` when it is not JSON, or too short for a record. */
export function parseLine(line: Uint8Array): unknown {
  // A line that cannot be parsed costs as much time as ten records.
  if (line.length < recordBytesMin) return undefined;
  try {
    return JSON.parse(decoder.decode(line));
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The position that a record contains; `null` when it contains no valid one. */
export function positionOf(record: unknown): ChainPosition | null {
  if (typeof record !== "object" || record === null || !("seq" in record) || !("prev" in record)) return null;
  const { seq, prev } = record;
  if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > auditLimits.seqMax) return null;
  return typeof prev === "string" && /^[0-9a-f]{64}$/.test(prev) ? { seq, prev } : null;
}

export function positionIn({ bytes }: LogLine): ChainPosition | null {
  return bytes && positionOf(parseLine(bytes));
}

/** The number of a file's first record; `null` when its first line is not a record. */
export function firstSeqOf(file: LogFile): number | null {
  for (const line of readLines(file)) return positionIn(line)?.seq ?? null;
  return null;
}
