/**
 * A user's write-ahead log (WAL). Records are appended and flushed before any file changes, and dropped once all files
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
import type { Checkpoint, WalRecord } from "./wal-format.ts";
import { walLimits } from "./wal-limits.ts";
import { damagedWalPrefix, walFile } from "./wal-names.ts";

/** A flush has failed. The record does not count, and the WAL's file has to be replaced. */
export class WalUnflushable extends Error {}

export class Wal implements Disposable {
  readonly #file: DiskFile;
  /** The user's id. */
  readonly #owner: string;
  /** The records since the last checkpoint, or since the WAL was remembered. */
  readonly records: readonly StoredRecord[];
  readonly isDistrusted: boolean;
  readonly isRelaxed: boolean;
  readonly isContinued: boolean;
  #checkpoint: Checkpoint;
  #slot: number;
  #next: number;
  #end: number;
  /** The start of the record that was appended last. */
  #last = 0;
  #lastBoot: string | null;
  /** Whether this process knows that the header was flushed. */
  #isHeaderSure: boolean;

  private constructor(file: DiskFile, owner: string, found: FoundRecords) {
    this.#file = file;
    this.#owner = owner;
    this.records = found.records;
    this.isDistrusted = found.isDistrusted;
    this.isRelaxed = found.isRelaxed;
    this.isContinued = found.isContinued;
    this.#isHeaderSure = this.isAsKnown;
    this.#checkpoint = found.checkpoint;
    this.#slot = found.slot;
    this.#next = found.next;
    this.#end = found.end;
    this.#last = found.last;
    this.#lastBoot = found.lastBoot;
  }

  /** Opens the WAL; `null` if there is none. Throws `WalDamaged` if the file is not a WAL, or is another user's. */
  static open(
    own: Directory,
    owner: string,
    { known, isRead = false }: { readonly known?: WalTail | null; readonly isRead?: boolean } = {},
  ): Wal | null {
    const file = own.openFile(walFile, walFile, isRead ? "read" : "write");
    if (file === null) return null;
    try {
      return new Wal(file, owner, (known && findAdded(file, owner, known)) ?? findRecords(file, owner));
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Makes a WAL without a checkpoint. The first record adds one. */
  static make(own: Directory, owner: string): Wal {
    const file = own.openFile(walFile, walFile, "make");
    if (file === null) throw new ToolError("STORAGE_FAILED", "Cannot make the WAL: it has gone meanwhile");
    return new Wal(file, owner, blankWal);
  }

  /** Renames a WAL that cannot be used, and returns the new name. */
  static putAside(own: Directory): string {
    const taken = new Set(own.entries().map(({ name }) => name));
    let count = 1;
    while (taken.has(`${damagedWalPrefix}${count}`)) count++;
    own.rename(walFile, own, `${damagedWalPrefix}${count}`);
    return `${damagedWalPrefix}${count}`;
  }

  /** Nobody has written to it since it was remembered. */
  get isAsKnown(): boolean {
    return this.isContinued && this.records.length === 0;
  }

  /** Whether it has a checkpoint. The first record adds one, after the owner is recorded. */
  get isSetUp(): boolean {
    return this.#checkpoint.salt !== "";
  }

  get tail(): WalTail {
    return {
      identity: this.#file.identity,
      checkpoint: this.#checkpoint,
      slot: this.#slot,
      next: this.#next,
      end: this.#end,
      last: this.#last,
      lastBoot: this.#lastBoot,
    };
  }

  get bytes(): number {
    return this.#end;
  }

  /** No record is left. */
  get isEmpty(): boolean {
    return this.#end === recordsStart;
  }

  /**
   * Appends a record and, if `isFlushed`, makes it durable. From then on the change set is committed. A record that
   * fails does not count.
   */
  async append(record: WalRecord, isFlushed: boolean): Promise<void> {
    const json = encodeFiles(record);
    refuseLength(this.#end + headBytes + json.length);
    if (!this.isSetUp && !isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(relaxedMark));
    if (this.isRelaxed && isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(0));
    if (!this.isSetUp) this.#writeCheckpoint({ first: this.#next, salt: newSalt() });
    // Another process can have died after a failed flush. A new flush covers only what is written again.
    else if (!this.#isHeaderSure) this.#file.write(0, this.#file.read(0, recordsStart));
    const bytes = encodeRecord(this.#checkpoint.salt, this.#next, json);
    const at = this.#end;
    try {
      this.#reserve(at + bytes.length);
      this.#file.write(at, bytes);
    } catch (error) {
      this.#void(at);
      throw error;
    }
    if (isFlushed) await this.#flushRecord(at);
    this.#isHeaderSure = true;
    this.#last = at;
    this.#lastBoot = record.boot;
    this.#end += bytes.length;
    this.#next++;
  }

  /**
   * Makes durable the records that another process has left. Its own flush can have failed before it died, and a new
   * flush covers only what is written again.
   */
  async confirm(): Promise<void> {
    this.#file.write(0, this.#file.read(0, this.#end));
    await this.#file.flush();
  }

  /** Marks the last record as applied. Not flushed: recovery after a crash does not use the mark. */
  markApplied(): void {
    if (this.#last > 0) this.#file.write(this.#last + stateOffset, Buffer.from("+"));
  }

  /** Marks that a flush has failed: the files' contents are perhaps not on the disk. */
  markDistrusted(): void {
    this.#file.write(distrustOffset, Uint8Array.of(distrustMark));
  }

  /** Drops all records. All their files must already be durable. */
  async checkpoint(): Promise<void> {
    const [old, slot] = [this.#checkpoint, this.#slot];
    // The checkpoint with the higher sequence counts, so the two must differ.
    const first = Math.max(this.#next, old.first + 1);
    this.#file.write(distrustOffset, Uint8Array.of(0));
    this.#writeCheckpoint({ first, salt: newSalt() });
    try {
      await this.#file.flush();
    } catch (error) {
      // The new checkpoint is perhaps not on the disk, and later records must not depend on it: the old one counts
      // again.
      this.#file.write(checkpointOffsets[this.#slot] ?? 0, Buffer.alloc(checkpointBytesMax));
      [this.#checkpoint, this.#slot] = [old, slot];
      throw error;
    }
    [this.#next, this.#end, this.#last] = [first, recordsStart, 0];
  }

  /** Frees the space of dropped records. */
  shrink(): void {
    if (this.isEmpty) this.#file.truncate(recordsStart);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #writeCheckpoint(checkpoint: Checkpoint): void {
    this.#slot = 1 - this.#slot;
    this.#file.write(checkpointOffsets[this.#slot] ?? 0, encodeCheckpoint(checkpoint, this.#owner));
    this.#checkpoint = checkpoint;
  }

  /** Grows the file in steps, so that a flush seldom has to write a new size too. */
  #reserve(end: number): void {
    const size = this.#file.size();
    if (end <= size) return;
    const target = Math.ceil(end / walLimits.stepBytes) * walLimits.stepBytes;
    this.#file.write(size, Buffer.alloc(target - size));
  }

  /** After a failed flush, the system can take the pages for written, so the file must not be flushed again. */
  async #flushRecord(at: number): Promise<void> {
    try {
      await this.#file.flush(true);
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

/** A longer WAL would be refused when it is read again. */
function refuseLength(bytes: number): void {
  if (bytes <= walLimits.walBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its WAL would take ${bytes} bytes, at most ${walLimits.walBytesMax} allowed`,
  );
}
