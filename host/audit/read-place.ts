import { auditLimits } from "../../shared/limits.ts";

/** What chains a record, whatever else it says: also a record of another version of memcell. */
export interface RecordPlace {
  readonly seq: number;
  readonly prev: string;
}

/** The text of a line as JSON; `undefined` when it is none. */
export function parseLine(line: Uint8Array): unknown {
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
