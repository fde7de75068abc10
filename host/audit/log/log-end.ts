import { auditLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import { positionIn } from "./chain-position.ts";
import type { LogFile } from "./disk/log-file.ts";
import { lineFeed, readLines } from "./read-lines.ts";

/** How a file of a log ends. */
export interface LogEnd {
  /** Up to the end of the last whole line. */
  readonly wholeBytes: number;
  /** Bytes behind it. */
  readonly tornBytes: number;
  /** The last line as a record; `null` in a file without any. */
  readonly last: (ChainHead & { readonly prev: string | null }) | null;
}

/** Reads a file from its end, no further than it must. */
export function readEnd(file: LogFile): LogEnd {
  const size = file.size();
  const wholeBytes = feedBefore(file, size) + 1;
  const end = { wholeBytes, tornBytes: size - wholeBytes, last: null };
  for (const line of readLines(file, feedBefore(file, wholeBytes - 1) + 1)) {
    if (line.isTorn) break;
    const position = positionIn(line);
    return {
      ...end,
      last: { hash: line.hash(), seq: position?.seq ?? seqByCounting(file), prev: position?.prev ?? null },
    };
  }
  return end;
}

/** The number of the last record, which does not tell it: counted from the nearest one before it that does. */
function seqByCounting(file: LogFile): number {
  let seq = -1;
  for (const line of readLines(file)) {
    if (!line.isTorn) seq = positionIn(line)?.seq ?? seq + 1;
  }
  return Math.min(seq, auditLimits.seqMax);
}

const chunkBytes = 64 * 1024;

/** Where the last line feed before an offset lies; -1 when there is none. */
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
