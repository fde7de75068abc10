/** Reads a journal: what its checkpoints say, and the records behind the one that counts. */
import type { DiskFile } from "../disk/directory.ts";
import {
  checkOf,
  checkpointBytesMax,
  checkpointPlaces,
  decodeCheckpoint,
  decodeHead,
  distrustMark,
  distrustPlace,
  headBytes,
  recordsStart,
  statePlace,
} from "./journal-format.ts";
import type { Checkpoint } from "./journal-format.ts";
import { journalLimits } from "./journal-limits.ts";
import { decodeFiles } from "./journal-record.ts";
import type { JournalRecord } from "./journal-record.ts";

export interface StoredRecord extends JournalRecord {
  readonly isApplied: boolean;
}

export interface FoundRecords {
  readonly records: readonly StoredRecord[];
  readonly isDistrusted: boolean;
  /** Nothing has changed since it was remembered, so no record was read. */
  readonly isAsKnown: boolean;
  readonly checkpoint: Checkpoint;
  /** Which of the two places holds the checkpoint. */
  readonly slot: number;
  /** The sequence of the next record, and where it will lie. */
  readonly next: number;
  readonly end: number;
  /** Where the last record lies; 0 when there is none. */
  readonly last: number;
}

/** What a runtime remembers of a journal. While it is still so, nobody else has written to it. */
export interface JournalTail extends Omit<FoundRecords, "records" | "isDistrusted" | "isAsKnown"> {
  readonly identity: string;
}

/** A file in the journal's place that cannot be read as one. */
export class JournalDamaged extends Error {}

/** A journal that has no checkpoint yet. */
export const blankJournal: FoundRecords = {
  records: [],
  isDistrusted: false,
  isAsKnown: false,
  checkpoint: { first: 1, salt: "" },
  slot: 1,
  next: 1,
  end: recordsStart,
  last: 0,
};

/** All records that count. What follows the last whole one was never acknowledged. */
export function findRecords(file: DiskFile, owner: string): FoundRecords {
  const size = file.size();
  const header = file.read(0, recordsStart);
  const found = newestCheckpoint(header, owner);
  if (found === null) {
    if (header.every((byte) => byte === 0)) return blankJournal;
    throw new JournalDamaged("The journal has no valid checkpoint");
  }
  if (size > journalLimits.journalBytesMax) throw new JournalDamaged("The journal is too large");
  const records: StoredRecord[] = [];
  let [next, end, last] = [found.checkpoint.first, recordsStart, 0];
  for (;;) {
    const read = readRecord(file, found.checkpoint.salt, { at: end, sequence: next, size });
    if (read === null) break;
    records.push(read.record);
    [next, last, end] = [next + 1, end, end + read.bytes];
  }
  const isDistrusted = header[distrustPlace] === distrustMark;
  return { ...found, records, isDistrusted, isAsKnown: false, next, end, last };
}

/** The journal as it is remembered, or `null` when anything in it has changed. */
export function findAsKnown(file: DiskFile, owner: string, known: JournalTail): FoundRecords | null {
  if (file.identity !== known.identity) return null;
  const header = file.read(0, recordsStart);
  const found = newestCheckpoint(header, owner);
  const isSame = found?.checkpoint.salt === known.checkpoint.salt && header[distrustPlace] !== distrustMark;
  if (!isSame || decodeHead(file.read(known.end, headBytes))?.sequence === known.next) return null;
  if (known.last > 0 && file.read(known.last + statePlace, 1).toString() !== "+") return null;
  return { ...known, records: [], isDistrusted: false, isAsKnown: true };
}

function newestCheckpoint(header: Buffer, owner: string): { checkpoint: Checkpoint; slot: number } | null {
  const found = checkpointPlaces
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
