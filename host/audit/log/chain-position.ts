import { auditLimits } from "../../../shared/limits.ts";
import type { LogFile } from "./disk/log-file.ts";
import { readLines } from "./read-lines.ts";
import type { LogLine } from "./read-lines.ts";

/** Where a record stands in the chain, whatever else it says: also a record of another version of memcell. */
export interface ChainPosition {
  readonly seq: number;
  /** The hash of the line before it. */
  readonly prev: string;
}

/** A position takes so much. A log of nothing but shorter lines is read as fast as it comes. */
export const recordBytesMin: number = JSON.stringify({ seq: 0, prev: "" }).length + 64;

/** The text of a line as JSON; `undefined` when it is none, or too short for a record. */
export function parseLine(line: Uint8Array): unknown {
  // What fails to be parsed costs as much as ten records.
  if (line.length < recordBytesMin) return undefined;
  try {
    return JSON.parse(decoder.decode(line));
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The position that a record gives itself; `null` when it gives none that could be right. */
export function positionOf(record: unknown): ChainPosition | null {
  if (typeof record !== "object" || record === null || !("seq" in record) || !("prev" in record)) return null;
  const { seq, prev } = record;
  if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > auditLimits.seqMax) return null;
  return typeof prev === "string" && /^[0-9a-f]{64}$/.test(prev) ? { seq, prev } : null;
}

export function positionIn({ bytes }: LogLine): ChainPosition | null {
  return bytes && positionOf(parseLine(bytes));
}

/** The number of a file's first record; `null` when its first line is none. */
export function firstSeqOf(file: LogFile): number | null {
  for (const line of readLines(file)) return positionIn(line)?.seq ?? null;
  return null;
}
