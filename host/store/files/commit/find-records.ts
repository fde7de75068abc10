/** Reads a WAL: its checkpoints, and the records after the one that counts. */
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
  headBytesOf,
  recordsStart,
  relaxedMark,
  relaxedOffset,
  stateOffset,
  writtenVersion,
} from "./wal-format.ts";
import type { Checkpoint, RecordHead, WalHome, WalRecord } from "./wal-format.ts";
import { walLimits } from "./wal-limits.ts";

export interface StoredRecord extends WalRecord, Pick<RecordHead, "isApplied" | "appliedUs"> {}

export interface FoundRecords {
  readonly records: readonly StoredRecord[];
  readonly isDistrusted: boolean;
  /** The WAL was set up without a flush: the folders that lead to it are perhaps not on the disk. */
  readonly isRelaxed: boolean;
  /** `records` has only those that were added since the WAL was remembered. */
  readonly isContinued: boolean;
  readonly checkpoint: Checkpoint;
  /** Which of the two places holds the checkpoint. */
  readonly slot: number;
  /** The sequence of the next record; it will start at `end`. */
  readonly next: number;
  readonly end: number;
  /** Where the last record starts; 0 if there is none. */
  readonly last: number;
  /** The last record's boot id; `null` if it has none, or there is no record yet. */
  readonly lastBoot: string | null;
}

/** What a runtime remembers about a WAL whose records are all applied. */
export interface WalTail extends Omit<FoundRecords, "records" | "isDistrusted" | "isRelaxed" | "isContinued"> {
  readonly identity: string;
}

/** Whether a WAL is as it was. */
export const isSameTail = (a: WalTail, b: WalTail): boolean =>
  a.identity === b.identity && a.checkpoint.salt === b.checkpoint.salt && a.next === b.next && a.end === b.end;

/** A file in the WAL's place that cannot be read as one. */
export class WalDamaged extends Error {}

/** A WAL that has no checkpoint yet. */
export const blankWal: FoundRecords = {
  records: [],
  isDistrusted: false,
  isRelaxed: false,
  isContinued: false,
  checkpoint: { version: writtenVersion, first: 1, salt: "", history: null },
  slot: 1,
  next: 1,
  end: recordsStart,
  last: 0,
  lastBoot: null,
};

/** Reads all valid records. Anything after the last whole one was never acknowledged. */
export function findRecords(file: DiskFile, home: WalHome): FoundRecords {
  const header = file.read(0, recordsStart);
  const found = newestCheckpoint(header, home);
  if (found === null) {
    const isBlank = header.every((byte, at) => byte === 0 || at === relaxedOffset);
    if (isBlank) return { ...blankWal, isRelaxed: isRelaxed(header) };
    throw new WalDamaged("The WAL has no valid checkpoint");
  }
  const start = { ...blankWal, ...found, next: found.checkpoint.first };
  const isDistrusted = header[distrustOffset] === distrustMark;
  return { ...start, ...readRecords(file, home, start), isDistrusted, isRelaxed: isRelaxed(header) };
}

/**
 * Reads only what other processes have added to a WAL since it was remembered, so that no call has to read all of it.
 * Returns `null` if recovery can be necessary, for which all records must be read.
 */
export function findAdded(file: DiskFile, home: WalHome, known: WalTail): FoundRecords | null {
  if (file.identity !== known.identity) return null;
  const header = file.read(0, recordsStart);
  const found = newestCheckpoint(header, home);
  const isSame = found?.checkpoint.salt === known.checkpoint.salt && header[distrustOffset] !== distrustMark;
  if (!isSame) return null;
  if (known.last > 0 && file.read(known.last + stateOffset, 1).toString() !== "+") return null;
  const added = readRecords(file, home, known);
  const isOfOneBoot = added.records.every(({ boot }) => boot !== null && boot === known.lastBoot);
  if (!isOfOneBoot || added.records.at(-1)?.isApplied === false) return null;
  return { ...known, ...added, isDistrusted: false, isRelaxed: isRelaxed(header), isContinued: true };
}

/** Whether the WAL needs recovery. */
export function needsRecovery(
  { records, isDistrusted }: Pick<FoundRecords, "records" | "isDistrusted">,
  boot: string | null,
): boolean {
  const last = records.at(-1);
  return isDistrusted || (last !== undefined && (isOfOtherBoot(records, boot) || !last.isApplied));
}

/** Whether any record is from before the machine's last start. A record without a boot id counts as such. */
export function isOfOtherBoot(records: readonly StoredRecord[], boot: string | null): boolean {
  return records.some((record) => record.boot === null || record.boot !== boot);
}

const isRelaxed = (header: Buffer): boolean => header[relaxedOffset] === relaxedMark;

/** Reads all whole records from an offset on. */
function readRecords(
  file: DiskFile,
  { kind }: WalHome,
  start: Pick<FoundRecords, "checkpoint" | "next" | "end" | "last" | "lastBoot">,
): Pick<FoundRecords, "records" | "next" | "end" | "last" | "lastBoot"> {
  const size = file.size();
  if (size > walLimits.walBytesMax) throw new WalDamaged("The WAL is too large");
  const records: StoredRecord[] = [];
  let { next, end, last } = start;
  for (;;) {
    const read = readRecord(file, { kind, ...start.checkpoint }, { at: end, sequence: next, size });
    if (read === null) break;
    records.push(read.record);
    [next, last, end] = [next + 1, end, end + read.bytes];
  }
  const lastRecord = records.at(-1);
  return { records, next, end, last, lastBoot: lastRecord ? lastRecord.boot : start.lastBoot };
}

function newestCheckpoint(header: Buffer, { owner }: WalHome): { checkpoint: Checkpoint; slot: number } | null {
  const found = checkpointOffsets
    .map((at, slot) => ({ checkpoint: decodeCheckpoint(header.subarray(at, at + checkpointBytesMax), owner), slot }))
    .filter((each): each is { checkpoint: Checkpoint; slot: number } => each.checkpoint !== null);
  return found.toSorted((a, b) => b.checkpoint.first - a.checkpoint.first)[0] ?? null;
}

function readRecord(
  file: DiskFile,
  { kind, salt, version }: Pick<WalHome, "kind"> & Checkpoint,
  { at, sequence, size }: { at: number; sequence: number; size: number },
): { record: StoredRecord; bytes: number } | null {
  const headBytes = headBytesOf(version);
  const head = decodeHead(file.read(at, headBytes));
  if (head === null || head.sequence !== sequence || at + headBytes + head.bytes > size) return null;
  const json = file.read(at + headBytes, head.bytes);
  if (checkOf(salt, sequence, json) !== head.check) return null;
  const record = decodeFiles(json, kind);
  const { isApplied, appliedUs } = head;
  return record && { record: { ...record, isApplied, appliedUs }, bytes: headBytes + head.bytes };
}
