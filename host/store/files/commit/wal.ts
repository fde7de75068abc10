/**
 * A home's write-ahead log (WAL). Records are appended and flushed before any file changes, and dropped once all files
 * are flushed.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { failureOfDisk, isFullDisk } from "../../../disk/disk-failure.ts";
import { inodeIn } from "../../../disk/folder-handle.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { inTurns } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { FileHome, HomeKind } from "../home.ts";
import { inFlushes } from "./flushing.ts";
import type { Flushing } from "./flushing.ts";
import {
  checkpointBytesMax,
  checkpointOffsets,
  distrustMark,
  distrustOffset,
  encodeApplied,
  encodeCheckpoint,
  encodeFiles,
  encodeHead,
  headBytes,
  newSalt,
  readRecords,
  recordsStart,
  relaxedMark,
  relaxedOffset,
  startOfRecords,
  stateOffset,
  walFile,
  walLimits,
  writtenVersion,
} from "./wal-format.ts";
import type { Checkpoint, FoundRecords, HistoryEnd, StoredRecord, WalEnd, WalRecord, WalTail } from "./wal-format.ts";

/** A flush has failed. The record does not count, and the WAL's file has to be replaced. */
export class WalUnflushable extends ToolError {}

interface WalOpening {
  readonly known?: WalTail | null;
  readonly isRead?: boolean;
  readonly isMade?: boolean;
}

export class Wal implements Disposable {
  readonly #file: DiskFile;
  readonly #owner: string;
  /** The records since the last checkpoint. If `isContinued`, only those that were added since the WAL was remembered. */
  readonly records: readonly StoredRecord[];
  readonly isContinued: boolean;
  readonly isDistrusted: boolean;
  /** It was set up without a flush: the folders that lead to it are perhaps not on the disk. */
  readonly isRelaxed: boolean;
  /** What the history has at least, with all versions that the WAL has had. The next checkpoint says it. */
  history: HistoryEnd | null;
  /** As it is now. `last` is the start of the record that was appended last. */
  readonly #now: { -readonly [Key in keyof WalEnd]: WalEnd[Key] };
  /**
   * How this process has left it: the last record's head up to its state, or without records the checkpoint. Both have a
   * check or a salt that no other WAL has in this place. `null` if that was not noted.
   */
  #seal: Buffer | null = null;
  /** Whether this process knows that the header was flushed. */
  #isHeaderSure: boolean;

  private constructor(file: DiskFile, { owner, kind }: FileHome, known: WalTail | null) {
    const header = file.read(0, recordsStart);
    this.#file = file;
    this.#owner = owner;
    this.isDistrusted = header[distrustOffset] === distrustMark;
    this.isRelaxed = header[relaxedOffset] === relaxedMark;
    const start = startOfRecords(header, owner);
    const { salt } = start.checkpoint;
    const isKnown = known?.identity === file.identity && known.checkpoint.salt === salt && !this.isDistrusted;
    const added = isKnown && salt !== "" ? readAdded(file, kind, known) : null;
    const { records, at } = added ?? readRecords(file, kind, start);
    this.isContinued = added !== null;
    this.records = records;
    this.#isHeaderSure = this.isAsKnown;
    this.#now = { ...at };
    this.history = at.checkpoint.history ?? null;
  }

  /** Opens the WAL; `null` if there is none. Throws `WalDamaged` if the file is not a WAL, or is another home's. */
  static open(
    own: Directory,
    home: FileHome,
    { known = null, isRead = false, isMade = false }: WalOpening = {},
  ): Wal | null {
    const file = own.openFile(walFile, walFile, isMade ? "make" : isRead ? "read" : "write");
    if (file === null) return null;
    try {
      return new Wal(file, home, known);
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Makes a WAL without a checkpoint. The first record adds one. */
  static make(own: Directory, home: FileHome): Wal {
    const wal = Wal.open(own, home, { isMade: true });
    if (wal === null) throw new ToolError("STORAGE_FAILED", "Cannot make the WAL: it has gone meanwhile");
    return wal;
  }

  /** Nobody has written to it since it was remembered. */
  get isAsKnown(): boolean {
    return this.isContinued && this.records.length === 0;
  }

  /** Whether it has a checkpoint. The first record adds one, after the owner is recorded. */
  get isSetUp(): boolean {
    return this.#now.checkpoint.salt !== "";
  }

  get tail(): WalTail {
    return { ...this.#now, identity: this.#file.identity };
  }

  /** Stays the same as long as nobody copies the WAL. */
  get inode(): string {
    return inodeIn(this.#file.identity);
  }

  /** Notes how this process leaves it, for `isStill`. */
  rest(): void {
    this.#seal ??= this.#readSeal();
  }

  /** Whether it still has its name, and is as this process has left it: somebody can copy another one over it. */
  isStill(own: Directory): boolean {
    return own.identityOf(walFile) === this.#file.identity && this.#seal?.equals(this.#readSeal()) === true;
  }

  #readSeal(): Buffer {
    const { last, slot } = this.#now;
    return last > 0
      ? this.#file.read(last, stateOffset)
      : this.#file.read(checkpointOffsets[slot] ?? 0, checkpointBytesMax);
  }

  /** No record can be added before it is retired: it has records of an earlier version of the format. */
  get isOutdated(): boolean {
    return this.isOfEarlierVersion && !this.isEmpty;
  }

  /** It was set up before there was a history. */
  get isOfEarlierVersion(): boolean {
    return this.#now.checkpoint.version !== writtenVersion;
  }

  /** No record is left. */
  get isEmpty(): boolean {
    return this.#now.end === recordsStart;
  }

  /**
   * Appends a record and, if `isFlushed`, makes it durable. From then on the change set is committed. A record that
   * fails does not count.
   */
  async append(record: WalRecord, isFlushed: boolean): Promise<void> {
    const file = this.#file;
    const json = await inTurns(encodeFiles({ ...record, inode: this.inode }));
    const length = this.#now.end + headBytes + json.length;
    if (length > walLimits.walBytesMax) throw tooLong(length);
    if (!this.isSetUp && !isFlushed) file.write(relaxedOffset, Uint8Array.of(relaxedMark));
    if (this.isSetUp && this.isRelaxed && isFlushed) file.write(relaxedOffset, Uint8Array.of(0));
    if (this.isOfEarlierVersion) await this.checkpoint();
    if (!this.isSetUp) this.#writeCheckpoint(this.#now.next);
    // Another process can have died after a failed flush. A new flush covers only what is written again.
    else if (!this.#isHeaderSure) file.write(0, file.read(0, recordsStart));
    const head = await inTurns(encodeHead(this.#now.checkpoint.salt, this.#now.next, json));
    const at = this.#now.end;
    await inTurns(writeRecord(file, at, head, json));
    if (isFlushed) await flushRecord(file, at);
    this.#isHeaderSure = true;
    this.#seal = head.subarray(0, stateOffset);
    Object.assign(this.#now, { next: this.#now.next + 1, last: at, lastBoot: record.boot });
    this.#now.end += head.length + json.length;
  }

  /**
   * Makes durable the records that another process has left. Its own flush can have failed before it died, and a new
   * flush covers only what is written again.
   */
  async confirm(): Promise<void> {
    this.#file.write(0, this.#file.read(0, this.#now.end));
    await this.#file.flush();
  }

  /**
   * Marks the last record as applied; `appliedUs`: when, if that is known. Not flushed: after a crash, a record without a
   * mark is still applied, only with less knowledge of what a person has changed since.
   */
  markApplied(appliedUs: number | null): void {
    if (this.#now.last === 0) return;
    const isTimed = this.#now.checkpoint.version !== 1;
    this.#file.write(this.#now.last + stateOffset, encodeApplied(isTimed ? appliedUs : null));
  }

  /** Marks that a flush has failed: the files' contents are perhaps not on the disk. */
  markDistrusted(): void {
    this.#file.write(distrustOffset, Uint8Array.of(distrustMark));
  }

  /** Drops all records. All their files must already be durable. */
  checkpoint(): Promise<void> {
    return inFlushes(this.checkpointing());
  }

  *checkpointing(): Flushing<void> {
    const { checkpoint, slot, next } = this.#now;
    this.#file.write(distrustOffset, Uint8Array.of(0));
    // The checkpoint with the higher sequence counts, so the two must differ.
    this.#writeCheckpoint(Math.max(next, checkpoint.first + 1));
    try {
      yield { all: [this.#file] };
    } catch (error) {
      // The new one is perhaps not on the disk, and later records must not depend on it: the one before counts again.
      this.#file.write(checkpointOffsets[this.#now.slot] ?? 0, Buffer.alloc(checkpointBytesMax));
      Object.assign(this.#now, { checkpoint, slot });
      throw error;
    }
    this.#seal = null;
    Object.assign(this.#now, { next: this.#now.checkpoint.first, end: recordsStart, last: 0 });
  }

  /** Writes a checkpoint into the place that does not count, which then does. */
  #writeCheckpoint(first: number): void {
    const checkpoint: Checkpoint = { version: writtenVersion, first, salt: newSalt(), history: this.history };
    this.#now.slot = 1 - this.#now.slot;
    this.#file.write(checkpointOffsets[this.#now.slot] ?? 0, encodeCheckpoint(checkpoint, this.#owner));
    this.#now.checkpoint = checkpoint;
  }

  /** Clears the space of dropped records, and frees most of it; all of it on a disk that has no room to clear it. */
  shrink(): void {
    if (!this.isEmpty) return;
    let left = Math.max(recordsStart, Math.min(this.#file.size(), walLimits.idleBytes));
    try {
      this.#file.write(recordsStart, Buffer.alloc(left - recordsStart));
    } catch {
      left = recordsStart;
    }
    this.#file.truncate(left);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

/**
 * What other processes have added since the WAL was remembered, so that no call has to read all of it; `null` if recovery
 * can be necessary, for which all records are read.
 */
function readAdded(file: DiskFile, kind: HomeKind, known: WalTail): FoundRecords | null {
  if (known.last > 0 && file.read(known.last + stateOffset, 1).toString() !== "+") return null;
  const added = readRecords(file, kind, known);
  const isOfOneBoot = added.records.every(({ boot }) => boot !== null && boot === known.lastBoot);
  return isOfOneBoot && added.records.at(-1)?.isApplied !== false ? added : null;
}

/** It would be refused when it is read again. */
const tooLong = (bytes: number): ToolError =>
  new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its WAL would take ${bytes} bytes, at most ${walLimits.walBytesMax} allowed`,
  );

const bytesAtOnce = 4 * 1024 * 1024;

/** Writes a small record at once, of a large one the head last: until then nobody finds half of it. */
function* writeRecord(file: DiskFile, at: number, head: Buffer, json: Buffer): Pieces<void> {
  try {
    if (json.length <= bytesAtOnce) {
      reserve(file, at + head.length + json.length);
      return file.write(at, Buffer.concat([head, json]));
    }
    for (let from = 0; from < json.length; from += bytesAtOnce) {
      yield;
      file.write(at + head.length + from, json.subarray(from, from + bytesAtOnce));
    }
    file.write(at, head);
  } catch (error) {
    erase(file, at);
    throw error;
  }
}

/** After a failed flush, the system can take the pages for written, so the file must not be flushed again. */
async function flushRecord(file: DiskFile, at: number): Promise<void> {
  try {
    await file.flush(true);
  } catch (error) {
    erase(file, at);
    const { tableCode, message, cause } = failureOfDisk(error, "make the change durable");
    throw new WalUnflushable(tableCode, message, { cause });
  }
}

/**
 * Doubles the file, filled with zeros, so that a flush seldom has to write a new size too. On a full disk the record may
 * fit all the same.
 */
function reserve(file: DiskFile, end: number): void {
  const size = file.size();
  if (end <= size) return;
  const target = Math.max(end, Math.min(2 * size, walLimits.retireBytes));
  try {
    file.write(size, Buffer.alloc(target - size));
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    file.truncate(size);
  }
}

/** Erases a record whose call has failed, so that nobody finds it. */
function erase(file: DiskFile, at: number): void {
  try {
    if (file.size() > at) file.write(at, Buffer.alloc(Math.min(headBytes, file.size() - at)));
  } catch {
    // The caller reports the first failure. What is left of the record was never acknowledged.
  }
}
