/**
 * A home's write-ahead log (WAL). Records are appended and flushed before any file changes, and dropped once all files
 * are flushed.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { blankWal, findAdded, findRecords } from "./find-records.ts";
import type { FoundRecords, WalTail, StoredRecord } from "./find-records.ts";
import {
  checkpointBytesMax,
  checkpointOffsets,
  distrustMark,
  distrustOffset,
  encodeCheckpoint,
  encodeFiles,
  encodeRecord,
  headBytes,
  newSalt,
  recordsStart,
  relaxedMark,
  relaxedOffset,
  stateOffset,
} from "./wal-format.ts";
import type { Checkpoint, WalHome, WalRecord } from "./wal-format.ts";
import { refuseLength, walLimits } from "./wal-limits.ts";
import { walFile } from "./wal-names.ts";

/** A flush has failed. The record does not count, and the WAL's file has to be replaced. */
export class WalUnflushable extends Error {}

export class Wal implements Disposable {
  readonly #file: DiskFile;
  readonly #home: WalHome;
  /** The records since the last checkpoint, or since the WAL was remembered. */
  readonly records: readonly StoredRecord[];
  readonly isDistrusted: boolean;
  readonly isRelaxed: boolean;
  readonly isContinued: boolean;
  /** As it is now. `last` is the start of the record that was appended last. */
  readonly #now: { -readonly [Key in keyof Omit<WalTail, "identity">]: WalTail[Key] };
  /** Whether this process knows that the header was flushed. */
  #isHeaderSure: boolean;

  private constructor(file: DiskFile, home: WalHome, found: FoundRecords) {
    this.#file = file;
    this.#home = home;
    this.records = found.records;
    this.isDistrusted = found.isDistrusted;
    this.isRelaxed = found.isRelaxed;
    this.isContinued = found.isContinued;
    this.#isHeaderSure = this.isAsKnown;
    const { checkpoint, slot, next, end, last, lastBoot } = found;
    this.#now = { checkpoint, slot, next, end, last, lastBoot };
  }

  /** Opens the WAL; `null` if there is none. Throws `WalDamaged` if the file is not a WAL, or is another home's. */
  static open(
    own: Directory,
    home: WalHome,
    { known, isRead = false }: { readonly known?: WalTail | null; readonly isRead?: boolean } = {},
  ): Wal | null {
    const file = own.openFile(walFile, walFile, isRead ? "read" : "write");
    if (file === null) return null;
    try {
      return new Wal(file, home, (known && findAdded(file, home, known)) ?? findRecords(file, home));
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Makes a WAL without a checkpoint. The first record adds one. */
  static make(own: Directory, home: WalHome): Wal {
    const file = own.openFile(walFile, walFile, "make");
    if (file === null) throw new ToolError("STORAGE_FAILED", "Cannot make the WAL: it has gone meanwhile");
    return new Wal(file, home, blankWal);
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
    return { identity: this.#file.identity, ...this.#now };
  }

  get bytes(): number {
    return this.#now.end;
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
    const json = encodeFiles(record);
    refuseLength(this.#now.end + headBytes + json.length);
    if (!this.isSetUp && !isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(relaxedMark));
    if (this.isRelaxed && isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(0));
    if (!this.isSetUp) this.#writeCheckpoint({ first: this.#now.next, salt: newSalt() });
    // Another process can have died after a failed flush. A new flush covers only what is written again.
    else if (!this.#isHeaderSure) this.#file.write(0, this.#file.read(0, recordsStart));
    const bytes = encodeRecord(this.#now.checkpoint.salt, this.#now.next, json);
    const at = this.#now.end;
    try {
      this.#reserve(at + bytes.length);
      this.#file.write(at, bytes);
    } catch (error) {
      this.#void(at);
      throw error;
    }
    // Several WALs are flushed at the same time for one change, so each in a thread.
    if (isFlushed) await this.#flushRecord(at, record.joint === undefined);
    this.#isHeaderSure = true;
    this.#now.last = at;
    this.#now.lastBoot = record.boot;
    this.#now.end += bytes.length;
    this.#now.next++;
  }

  /**
   * Makes durable the records that another process has left. Its own flush can have failed before it died, and a new
   * flush covers only what is written again.
   */
  async confirm(): Promise<void> {
    this.#file.write(0, this.#file.read(0, this.#now.end));
    await this.#file.flush();
  }

  /** Makes durable that no record follows the last one: the flush of one can have failed. */
  async confirmEnd(): Promise<void> {
    const left = Math.min(headBytes, this.#file.size() - this.#now.end);
    if (left > 0) this.#file.write(this.#now.end, Buffer.alloc(left));
    await this.confirm();
  }

  /** Erases the last record. The WAL must be opened again. */
  eraseLast(): void {
    if (this.#now.last > 0) this.#file.write(this.#now.last, Buffer.alloc(headBytes));
  }

  /** Marks the last record as applied, and makes the mark durable. Throws `WalUnflushable` if that fails. */
  async settle(): Promise<void> {
    if (this.#now.last === 0) return;
    this.markApplied();
    try {
      await this.#file.flush();
    } catch (error) {
      throw new WalUnflushable("The WAL could not be flushed", { cause: error });
    }
  }

  /** Marks the last record as applied. Not flushed: recovery after a crash does not use the mark. */
  markApplied(): void {
    if (this.#now.last > 0) this.#file.write(this.#now.last + stateOffset, Buffer.from("+"));
  }

  /** Marks that a flush has failed: the files' contents are perhaps not on the disk. */
  markDistrusted(): void {
    this.#file.write(distrustOffset, Uint8Array.of(distrustMark));
  }

  /** Drops all records. All their files must already be durable. */
  async checkpoint(): Promise<void> {
    const [old, slot] = [this.#now.checkpoint, this.#now.slot];
    // The checkpoint with the higher sequence counts, so the two must differ.
    const first = Math.max(this.#now.next, old.first + 1);
    this.#file.write(distrustOffset, Uint8Array.of(0));
    this.#writeCheckpoint({ first, salt: newSalt() });
    try {
      await this.#file.flush();
    } catch (error) {
      // The new checkpoint is perhaps not on the disk, and later records must not depend on it: the old one counts
      // again.
      this.#file.write(checkpointOffsets[this.#now.slot] ?? 0, Buffer.alloc(checkpointBytesMax));
      [this.#now.checkpoint, this.#now.slot] = [old, slot];
      throw error;
    }
    [this.#now.next, this.#now.end, this.#now.last] = [first, recordsStart, 0];
  }

  /** Frees the space of dropped records. */
  shrink(): void {
    if (this.isEmpty) this.#file.truncate(recordsStart);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #writeCheckpoint(checkpoint: Checkpoint): void {
    this.#now.slot = 1 - this.#now.slot;
    this.#file.write(checkpointOffsets[this.#now.slot] ?? 0, encodeCheckpoint(checkpoint, this.#home.owner));
    this.#now.checkpoint = checkpoint;
  }

  /** Grows the file in steps, so that a flush seldom has to write a new size too. */
  #reserve(end: number): void {
    const size = this.#file.size();
    if (end <= size) return;
    const target = Math.ceil(end / walLimits.stepBytes) * walLimits.stepBytes;
    this.#file.write(size, Buffer.alloc(target - size));
  }

  /** After a failed flush, the system can take the pages for written, so the file must not be flushed again. */
  async #flushRecord(at: number, isAlone: boolean): Promise<void> {
    try {
      await this.#file.flush(isAlone);
    } catch (error) {
      this.#void(at);
      throw new WalUnflushable("The WAL could not be flushed", { cause: error });
    }
  }

  /** Erases a record whose call has failed, so that nobody finds it. */
  #void(at: number): void {
    try {
      if (this.#file.size() > at) this.#file.write(at, Buffer.alloc(Math.min(headBytes, this.#file.size() - at)));
    } catch {
      // The caller reports the first failure. What is left of the record was never acknowledged.
    }
  }
}
