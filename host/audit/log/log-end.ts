/** Where a log ends, by its file and by its head, and where the chain continues. */
import { auditLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import type { AuditEntry } from "../audit-record.ts";
import type { LogFile } from "./disk/log-file.ts";
import type { LogFolder } from "./disk/log-folder.ts";
import { firstSeqIn, headNameOf } from "./log-names.ts";
import { lineFeed, positionIn, readLines } from "./read-lines.ts";

/** The end of one log file. */
export interface LogEnd {
  /** Bytes up to the end of the last whole line. */
  readonly wholeBytes: number;
  /** Bytes after it. */
  readonly tornBytes: number;
  /** The last line as a record; `null` in an empty file. */
  readonly last: (ChainHead & { readonly prev: string | null }) | null;
}

/** Reads a file backwards from its end, only as far as necessary. */
export function readEnd(file: LogFile): LogEnd {
  const size = file.size();
  const wholeBytes = feedBefore(file, size) + 1;
  const end = { wholeBytes, tornBytes: size - wholeBytes };
  for (const line of readLines(file, feedBefore(file, wholeBytes - 1) + 1)) {
    if (line.isTorn) break;
    const { seq = seqByCounting(file), prev = null } = positionIn(line) ?? {};
    return { ...end, last: { hash: line.hash(), seq, prev } };
  }
  return { ...end, last: null };
}

/** The number of a last line that does not contain it, counted from the nearest earlier line that contains its own. */
function seqByCounting(file: LogFile): number {
  let seq = -1;
  for (const line of readLines(file)) {
    if (!line.isTorn) seq = positionIn(line)?.seq ?? seq + 1;
  }
  return Math.min(seq, auditLimits.seqMax);
}

const chunkBytes = 64 * 1024;

/** The offset of the last line feed before `end`; -1 when there is none. */
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

/** The last record of the newest full file. The process can be killed before it writes the next file's first record. */
export function endOfFullFiles(folder: LogFolder, name: string): LogEnd["last"] {
  const fullNames = folder.names().filter((each) => firstSeqIn(each, name) !== null);
  // Their numbers all have twelve digits.
  const newest = fullNames.toSorted().at(-1);
  if (newest === undefined) return null;
  using file = folder.openFile(newest, "read");
  return readEnd(file).last;
}

/** The hash of a record in a log's file; `null` when the file does not have it. */
function hashAt(log: LogFile, seq: number): string | null {
  for (const line of readLines(log)) {
    const position = line.isTorn ? null : positionIn(line);
    if (position?.seq === seq) return line.hash();
    if (position?.seq === seq + 1) return position.prev;
  }
  return null;
}

/**
 * The head of a log: a file of fixed size that names the last record. It reveals whether the end of a log was removed.
 * It is `empty` before the first record.
 */
export type HeadText = ChainHead | "empty" | "unreadable";

/** The head's content. A single write within one disk sector replaces the content before it. */
export function headBytes({ seq, hash }: ChainHead): Uint8Array {
  return Buffer.from(`${String(seq).padStart(12, "0")} ${hash}\n`);
}

export const headFileBytesMax = 4096;

export function readHead(file: LogFile): HeadText {
  const bytes = Buffer.alloc(headFileBytesMax);
  const text = bytes.toString("latin1", 0, file.read(0, bytes));
  if (text === "") return "empty";
  const [, seq, hash] = /^(\d{12}) ([0-9a-f]{64})\n$/.exec(text) ?? [];
  return seq === undefined || hash === undefined ? "unreadable" : { seq: Number(seq), hash };
}

/** Reads the head beside a log; `null` when there is none. */
export function findHead(folder: LogFolder, name: string): HeadText | null {
  using file = folder.findFile(headNameOf(name));
  return file && readHead(file);
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
export function resumeChain(found: LogEnd["last"], head: HeadText, log: LogFile): Resumption {
  const last = found && { seq: found.seq, hash: found.hash };
  if (head === "unreadable") return { last, missing: 0, head: "lost" };
  if (head === "empty") return { last, missing: 0, head: found === null ? "new" : found.seq === 0 ? "agrees" : "lost" };
  if (found === null) return { last: head, missing: head.seq + 1, head: "agrees" };
  if (head.seq > found.seq) return { last: head, missing: head.seq - found.seq, head: "agrees" };
  if (head.seq === found.seq) {
    return { last: head, missing: 0, head: head.hash === found.hash ? "agrees" : "differs" };
  }
  if (head.seq === found.seq - 1 && head.hash === found.prev) return { last, missing: 0, head: "agrees" };
  return { last, missing: 0, head: hashAt(log, head.seq) === head.hash ? "behind" : "differs" };
}
