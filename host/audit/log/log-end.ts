/** Where a log ends: by its file, and by its head beside it; and how it goes on from there. */
import { auditLimits } from "../../../shared/limits.ts";
import type { ChainHead } from "../audit-log.ts";
import type { AuditEntry } from "../audit-record.ts";
import type { LogFile } from "./disk/log-file.ts";
import type { LogFolder } from "./disk/log-folder.ts";
import { firstSeqIn, headNameOf } from "./log-names.ts";
import { lineFeed, positionIn, readLines } from "./read-lines.ts";

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
  const end = { wholeBytes, tornBytes: size - wholeBytes };
  for (const line of readLines(file, feedBefore(file, wholeBytes - 1) + 1)) {
    if (line.isTorn) break;
    const { seq = seqByCounting(file), prev = null } = positionIn(line) ?? {};
    return { ...end, last: { hash: line.hash(), seq, prev } };
  }
  return { ...end, last: null };
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

/** The last record of the newest file that was full: who begins the next one may have been killed before its first. */
export function endOfFullFiles(folder: LogFolder, name: string): LogEnd["last"] {
  const fullNames = folder.names().filter((each) => firstSeqIn(each, name) !== null);
  // Their numbers all have twelve digits.
  const newest = fullNames.toSorted().at(-1);
  if (newest === undefined) return null;
  using file = folder.openFile(newest, "read");
  return readEnd(file).last;
}

/** The hash of a record in a log's file; `null` when it is not there. */
function hashAt(log: LogFile, seq: number): string | null {
  for (const line of readLines(log)) {
    const position = line.isTorn ? null : positionIn(line);
    if (position?.seq === seq) return line.hash();
    if (position?.seq === seq + 1) return position.prev;
  }
  return null;
}

/**
 * The head of a log: a file of fixed size that says which record is the last. Without it nobody could tell that the end of
 * a log was taken away. `empty` is what it is before the first record.
 */
export type HeadText = ChainHead | "empty" | "unreadable";

/** Written over the one before in a single write, within one sector of the disk. */
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

/** As `readHead`, of the head that lies beside a log; `null` when none does. */
export function findHead(folder: LogFolder, name: string): HeadText | null {
  using file = folder.findFile(headNameOf(name));
  return file && readHead(file);
}

/** How a log goes on that has been opened. */
export interface Resumption {
  /** What the next record follows; `null` when it is the first. */
  readonly last: ChainHead | null;
  readonly missing: number;
  readonly head: Extract<AuditEntry, { kind: "opened" }>["head"];
}

/**
 * Compares the end of a log with its head. Where they say different things the log goes on from the head, so that the gap
 * or the altered record stays visible in the chain for ever.
 *
 * A process may have been killed between the record and the head: then the head names the record before.
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
