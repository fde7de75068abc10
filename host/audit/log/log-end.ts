import { createHash } from "node:crypto";

import { auditLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import type { LogFile } from "./disk/log-file.ts";
import { lineFeed, readLines } from "./read-lines.ts";
import { parseLine, placeOf } from "./read-place.ts";

/** How a file of a log ends. */
export interface LogEnd {
  /** Up to the end of the last whole line. */
  readonly wholeBytes: number;
  /** Bytes behind it. */
  readonly tornBytes: number;
  /** The last line as a place in the chain; `null` in a file without any. */
  readonly last: (ChainHead & { readonly prev: string | null }) | null;
}

/** Reads a file from its end, no further than it must. */
export function readEnd(file: LogFile): LogEnd {
  const size = file.size();
  const wholeBytes = feedBefore(file, size) + 1;
  const end = { wholeBytes, tornBytes: size - wholeBytes };
  if (wholeBytes === 0) return { ...end, last: null };
  const line = lineBefore(file, wholeBytes);
  const hash = hashOfPart(file, line);
  const place = readPlace(file, line);
  return { ...end, last: { hash, seq: place?.seq ?? seqByCounting(file), prev: place?.prev ?? null } };
}

interface Part {
  readonly start: number;
  /** Where its line feed lies. */
  readonly end: number;
}

function lineBefore(file: LogFile, end: number): Part {
  return { start: feedBefore(file, end - 1) + 1, end: end - 1 };
}

/** The number of the last record, which does not tell it: counted from the nearest one before it that does. */
function seqByCounting(file: LogFile): number {
  let seq = -1;
  for (const { bytes, isTorn } of readLines(file)) {
    if (!isTorn) seq = (bytes && placeOf(parseLine(bytes))?.seq) ?? seq + 1;
  }
  return Math.min(seq, auditLimits.seqMax);
}

function readPlace(file: LogFile, { start, end }: Part): ReturnType<typeof placeOf> {
  if (end - start > auditLimits.recordBytesMax) return null;
  const bytes = Buffer.alloc(end - start);
  return placeOf(parseLine(bytes.subarray(0, file.read(start, bytes))));
}

const chunkBytes = 64 * 1024;

/** Where the last line feed before a place lies; -1 when there is none. */
function feedBefore(file: LogFile, end: number): number {
  const chunk = Buffer.alloc(chunkBytes);
  for (let to = end; to > 0;) {
    const from = Math.max(0, to - chunkBytes);
    const found = chunk.subarray(0, file.read(from, chunk.subarray(0, to - from))).lastIndexOf(lineFeed);
    if (found >= 0) return from + found;
    to = from;
  }
  return -1;
}

function hashOfPart(file: LogFile, { start, end }: Part): string {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = start; at < end;) {
    const filled = file.read(at, chunk.subarray(0, Math.min(chunkBytes, end - at)));
    if (filled === 0) break;
    hash.update(chunk.subarray(0, filled));
    at += filled;
  }
  return hash.digest("hex");
}
