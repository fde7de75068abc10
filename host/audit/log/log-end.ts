/** Where a log ends, by its files and by its head, and where the chain goes on. */
import { auditLimits } from "../../../shared/limits.ts";
import type { Directory, DiskFile } from "../../disk/directory.ts";
import { findLogFile } from "../../log-file/append-log.ts";
import { hashOf } from "../../log-file/chain.ts";
import type { ChainHead } from "../../log-file/chain.ts";
import { endOf } from "../../log-file/lines.ts";
import { fullFilesOf } from "../../log-file/names-and-head.ts";
import type { HeadText } from "../../log-file/names-and-head.ts";
import type { AuditEntry } from "../audit-record.ts";
import { linesOf, parseLine, positionOf } from "./record-line.ts";

/** The last line of a log. `prev` is `null` if it is no record. */
type LastRecord = ChainHead & { readonly prev: string | null };

/** The last whole line of a file; `null` without one. */
export function lastRecordIn(file: DiskFile): LastRecord | null {
  const { lastLineAt } = endOf(file);
  if (lastLineAt === null) return null;
  for (const line of linesOf(file, lastLineAt)) {
    const { seq = seqByCounting(file), prev = null } = positionOf(parseLine(line)) ?? {};
    return { hash: hashOf(line.bytes), seq, prev };
  }
  return null;
}

/** The number of a last line that does not contain it, counted from the nearest earlier line that contains its own. */
function seqByCounting(file: DiskFile): number {
  let seq = -1;
  for (const line of linesOf(file)) {
    if (!line.isTorn) seq = positionOf(parseLine(line))?.seq ?? seq + 1;
  }
  return Math.min(seq, auditLimits.seqMax);
}

/** The last record of the newest full file. The process can be killed before it writes the next file's first record. */
export function lastRecordInFull(folder: Directory, name: string): LastRecord | null {
  const newest = fullFilesOf(folder, name).at(-1);
  using file = newest === undefined ? null : findLogFile(folder, newest.name);
  return file && lastRecordIn(file);
}

/** The hash of a record in a log's file; `null` when the file does not have it. */
function hashAt(file: DiskFile, seq: number): string | null {
  for (const line of linesOf(file)) {
    const position = positionOf(parseLine(line));
    if (position?.seq === seq) return hashOf(line.bytes);
    if (position?.seq === seq + 1) return position.prev;
  }
  return null;
}

/** Where an opened log continues. */
export interface Resumption {
  /** The record before the next one; `null` when the next one is the first. */
  readonly last: ChainHead | null;
  readonly missing: number;
  readonly head: Extract<AuditEntry, { kind: "opened" }>["head"];
}

/**
 * Compares the end of a log with its head. If they contradict each other, the log continues from the head, so the gap
 * or the altered record stays visible in the chain.
 *
 * A process can be killed after it wrote a record and before it wrote the head. The head then names the record before.
 */
export function resumeChain(found: LastRecord | null, head: HeadText, file: DiskFile): Resumption {
  const last = found && { seq: found.seq, hash: found.hash };
  if (head === "unreadable") return { last, missing: 0, head: "lost" };
  if (head === "empty") return { last, missing: 0, head: found === null ? "new" : found.seq === 0 ? "agrees" : "lost" };
  if (found === null || head.seq > found.seq)
    return { last: head, missing: head.seq - (found?.seq ?? -1), head: "agrees" };
  if (head.seq === found.seq) {
    return { last: head, missing: 0, head: head.hash === found.hash ? "agrees" : "differs" };
  }
  if (head.seq === found.seq - 1 && head.hash === found.prev) return { last, missing: 0, head: "agrees" };
  return { last, missing: 0, head: hashAt(file, head.seq) === head.hash ? "behind" : "differs" };
}
