import { auditLimits } from "../../../shared/limits.ts";

/** What chains a record, whatever else it says: also a record of another version of memcell. */
export interface RecordPlace {
  readonly seq: number;
  readonly prev: string;
}

/** What chains a record takes so much. A log of nothing but shorter lines is read as fast as it comes. */
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

/** The place that a record gives itself; `null` when it gives none that could be right. */
export function placeOf(record: unknown): RecordPlace | null {
  if (typeof record !== "object" || record === null || !("seq" in record) || !("prev" in record)) return null;
  const { seq, prev } = record;
  if (typeof seq !== "number" || !Number.isInteger(seq) || seq < 0 || seq > auditLimits.seqMax) return null;
  return typeof prev === "string" && /^[0-9a-f]{64}$/.test(prev) ? { seq, prev } : null;
}
