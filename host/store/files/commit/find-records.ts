/** Reads a WAL: what its checkpoints say, and the records behind the one that counts. */
import type { DiskFile } from "../../../disk/directory.ts";
import {
  checkOf,
  checkpointBytesMax,
  checkpointOffsets,
  decodeCheckpoint,
  decodeFiles,
  decodeHead,
  distrustMark,
  distrustOffset,
  headBytes,
  recordsStart,
  relaxedMark,
  relaxedOffset,
  stateOffset,
} from "./wal-format.ts";
import type { Checkpoint, WalRecord } from "./wal-format.ts";
import { walLimits } from "./wal-limits.ts";

export interface StoredRecord extends WalRecord {
  readonly isApplied: boolean;
}

export interface FoundRecords {
  readonly records: readonly StoredRecord[];
  readonly isDistrusted: boolean;
  /** It was set up without a flush: the folders that lead to it may not be on the disk. */
  readonly isRelaxed: boolean;
  /** Only the records are here that were added since the WAL was remembered. */
  readonly isContinued: boolean;
  readonly checkpoint: Checkpoint;
  /** Which of the two places holds the checkpoint. */
  readonly slot: number;
  /** The sequence of the next record, and where it will lie. */
  readonly next: number;
  readonly end: number;
  /** Where the last record lies; 0 when there is none. */
  readonly last: number;
  /** The start of the machine that the last record told of; `null` when it told of none, or there was no record yet. */
  readonly lastBoot: string | null;
}

/** What a runtime remembers of a WAL whose records are all applied. */
export interface WalTail extends Omit<FoundRecords, "records" | "isDistrusted" | "isRelaxed" | "isContinued"> {
  readonly identity: string;
}

/** A file in the WAL's place that cannot be read as one. */
export class WalDamaged extends Error {}

/** A WAL that has no checkpoint yet. */
export const blankWal: FoundRecords = {
  records: [],
  isDistrusted: false,
  isRelaxed: false,
  isContinued: false,
  checkpoint: { first: 1, salt: "" },
  slot: 1,
  next: 1,
  end: recordsStart,
  last: 0,
  lastBoot: null,
};

/** All records that count. What follows the last whole one was never acknowledged. */
export function findRecords(file: DiskFile, owner: string): FoundRecords {
  const header = file.read(0, recordsStart);
  const found = newestCheckpoint(header, owner);
  if (found === null) {
    if (header.every((byte, at) => byte === 0 || at === relaxedOffset)) return blankWal;
    throw new WalDamaged("The WAL has no valid checkpoint");
  }
  const start = { ...blankWal, ...found, next: found.checkpoint.first };
  const isDistrusted = header[distrustOffset] === distrustMark;
  return { ...start, ...readRecords(file, start), isDistrusted, isRelaxed: isRelaxed(header) };
}

/**
 * What other processes have added to a WAL since it was remembered, so that nobody reads all of it for each call.
 * `null` when there may be something to recover: that takes all records.
 */
export function findAdded(file: DiskFile, owner: string, known: WalTail): FoundRecords | null {
  if (file.identity !== known.identity) return null;
  const header = file.read(0, recordsStart);
  const found = newestCheckpoint(header, owner);
  const isSame = found?.checkpoint.salt === known.checkpoint.salt && header[distrustOffset] !== distrustMark;
  if (!isSame) return null;
  if (known.last > 0 && file.read(known.last + stateOffset, 1).toString() !== "+") return null;
  const added = readRecords(file, known);
  const isOfOneBoot = added.records.every(({ boot }) => boot !== null && boot === known.lastBoot);
  if (!isOfOneBoot || added.records.at(-1)?.isApplied === false) return null;
  return { ...known, ...added, isDistrusted: false, isRelaxed: isRelaxed(header), isContinued: true };
}

/** Whether any record is left to be looked at. */
export function needsRecovery(
  { records, isDistrusted }: Pick<FoundRecords, "records" | "isDistrusted">,
  boot: string | null,
): boolean {
  const last = records.at(-1);
  return isDistrusted || (last !== undefined && (isOfOtherBoot(records, boot) || !last.isApplied));
}

/** A WAL that knows no start of the machine may be from before a crash. */
export function isOfOtherBoot(records: readonly StoredRecord[], boot: string | null): boolean {
  return records.some((record) => record.boot === null || record.boot !== boot);
}

const isRelaxed = (header: Buffer): boolean => header[relaxedOffset] === relaxedMark;

/** All whole records from a place on. */
function readRecords(
  file: DiskFile,
  start: Pick<FoundRecords, "checkpoint" | "next" | "end" | "last" | "lastBoot">,
): Pick<FoundRecords, "records" | "next" | "end" | "last" | "lastBoot"> {
  const size = file.size();
  if (size > walLimits.walBytesMax) throw new WalDamaged("The WAL is too large");
  const records: StoredRecord[] = [];
  let { next, end, last } = start;
  for (;;) {
    const read = readRecord(file, start.checkpoint.salt, { at: end, sequence: next, size });
    if (read === null) break;
    records.push(read.record);
    [next, last, end] = [next + 1, end, end + read.bytes];
  }
  const lastRecord = records.at(-1);
  return { records, next, end, last, lastBoot: lastRecord ? lastRecord.boot : start.lastBoot };
}

function newestCheckpoint(header: Buffer, owner: string): { checkpoint: Checkpoint; slot: number } | null {
  const found = checkpointOffsets
    .map((at, slot) => ({ checkpoint: decodeCheckpoint(header.subarray(at, at + checkpointBytesMax), owner), slot }))
    .filter((each): each is { checkpoint: Checkpoint; slot: number } => each.checkpoint !== null);
  return found.toSorted((a, b) => b.checkpoint.first - a.checkpoint.first)[0] ?? null;
}

function readRecord(
  file: DiskFile,
  salt: string,
  { at, sequence, size }: { at: number; sequence: number; size: number },
): { record: StoredRecord; bytes: number } | null {
  const head = decodeHead(file.read(at, headBytes));
  if (head === null || head.sequence !== sequence || at + headBytes + head.bytes > size) return null;
  const json = file.read(at + headBytes, head.bytes);
  if (checkOf(salt, sequence, json) !== head.check) return null;
  const record = decodeFiles(json);
  return record && { record: { ...record, isApplied: head.isApplied }, bytes: headBytes + head.bytes };
}
