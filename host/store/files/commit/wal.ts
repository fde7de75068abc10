/** A user's write-ahead log (WAL): records are appended and flushed before any file is touched, and are dropped when all files are. */
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

/** A flush has failed. The record never happened, and the WAL's file has to be replaced. */
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
  /** Whether this process has seen the header being flushed. */
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

  /** Opens the WAL; `null` when there is none. Throws `WalDamaged` for what is none of ours, or another user's. */
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

  /** A WAL without a checkpoint. The first record brings one along. */
  static make(own: Directory, owner: string): Wal {
    const file = own.openFile(walFile, walFile, "make");
    if (file === null) throw new ToolError("STORAGE_FAILED", "Cannot make the WAL: it has gone meanwhile");
    return new Wal(file, owner, blankWal);
  }

  /** Puts a WAL aside that cannot be used, under a name that says so. */
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

  /** Whether its first record was ever flushed, and with it the folders that lead to it. */
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

  /** Writes a record and makes it durable: the point from which a change set holds. On failure it never happened. */
  async append(record: WalRecord, isFlushed: boolean): Promise<void> {
    const json = encodeFiles(record);
    refuseLength(this.#end + headBytes + json.length);
    if (!this.isSetUp && !isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(relaxedMark));
    if (this.isRelaxed && isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(0));
    if (!this.isSetUp) this.#writeCheckpoint({ first: this.#next, salt: newSalt() });
    // Another process may have died after its flush had failed: only what is written again is flushed again.
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
   * Makes the records durable that another process has left. Its own flush may have failed before it died, and only what
   * is written again is flushed again.
   */
  async confirm(): Promise<void> {
    this.#file.write(0, this.#file.read(0, this.#end));
    await this.#file.flush();
  }

  /** Notes that the last record is applied. Not flushed: after a crash it is not asked for. */
  markApplied(): void {
    if (this.#last > 0) this.#file.write(this.#last + stateOffset, Buffer.from("+"));
  }

  /** Notes that a flush has failed: what the system shows of the files may not be on the disk. */
  markDistrusted(): void {
    this.#file.write(distrustOffset, Uint8Array.of(distrustMark));
  }

  /** Drops all records, after every file of theirs has become durable. */
  async checkpoint(): Promise<void> {
    const [old, slot] = [this.#checkpoint, this.#slot];
    // Of two checkpoints the one with the higher sequence counts, so they must not be the same.
    const first = Math.max(this.#next, old.first + 1);
    this.#file.write(distrustOffset, Uint8Array.of(0));
    this.#writeCheckpoint({ first, salt: newSalt() });
    try {
      await this.#file.flush();
    } catch (error) {
      // It may not be on the disk, and later records must not depend on it: the old one and its records count again.
      this.#file.write(checkpointOffsets[this.#slot] ?? 0, Buffer.alloc(checkpointBytesMax));
      [this.#checkpoint, this.#slot] = [old, slot];
      throw error;
    }
    [this.#next, this.#end, this.#last] = [first, recordsStart, 0];
  }

  /** Gives back the space of dropped records. */
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

  /** Grows in steps, so that a flush seldom has a new size to write down as well. */
  #reserve(end: number): void {
    const size = this.#file.size();
    if (end <= size) return;
    const target = Math.ceil(end / walLimits.stepBytes) * walLimits.stepBytes;
    this.#file.write(size, Buffer.alloc(target - size));
  }

  /** After a failed flush the system may hold the pages for written: the file is not to be flushed again. */
  async #flushRecord(at: number): Promise<void> {
    try {
      await this.#file.flush(true);
    } catch (error) {
      this.#void(at);
      throw new WalUnflushable("The WAL could not be flushed", { cause: error });
    }
  }

  /** Nobody may find a record whose call has failed. */
  #void(at: number): void {
    try {
      if (this.#file.size() > at) this.#file.write(at, Buffer.alloc(Math.min(headBytes, this.#file.size() - at)));
    } catch {
      // The failure that led here is the one to report. The record, if any of it is there, was never acknowledged.
    }
  }
}

/** What is longer would be taken for none of ours when it is read again. */
function refuseLength(bytes: number): void {
  if (bytes <= walLimits.walBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its WAL would take ${bytes} bytes, at most ${walLimits.walBytesMax} allowed`,
  );
}
