/**
 * A home's write-ahead log (WAL). Records are appended and flushed before any file changes, and dropped once all files
 * are flushed.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { inodeIn } from "../../../disk/folder-handle.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { inTurns } from "../../../values/turns.ts";
import { blankWal, findAdded, findRecords } from "./find-records.ts";
import type { FoundRecords, WalTail, StoredRecord } from "./find-records.ts";
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
  recordsStart,
  relaxedMark,
  relaxedOffset,
  stateOffset,
  walFile,
  writtenVersion,
} from "./wal-format.ts";
import type { HistoryEnd, WalHome, WalRecord, Checkpoint } from "./wal-format.ts";
import { refuseLength } from "./wal-limits.ts";
import { clearRoom, flushRecord, writeRecord } from "./write-record.ts";

export class Wal implements Disposable {
  readonly #file: DiskFile;
  readonly #home: WalHome;
  /** The records since the last checkpoint, or since the WAL was remembered. */
  readonly records: readonly StoredRecord[];
  readonly isDistrusted: boolean;
  readonly isRelaxed: boolean;
  readonly isContinued: boolean;
  /** What the history has at least, with all versions that the WAL has had. The next checkpoint says it. */
  history: HistoryEnd | null;
  /** As it is now. `last` is the start of the record that was appended last. */
  readonly #now: { -readonly [Key in keyof Omit<WalTail, "identity">]: WalTail[Key] };
  readonly #seal = new WalSeal();
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
    this.history = checkpoint.history ?? null;
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

  /** Stays the same as long as nobody copies the WAL. */
  get inode(): string {
    return inodeIn(this.#file.identity);
  }

  /** Whether it still has its name, and is as this process has left it. */
  isStill(own: Directory): boolean {
    return own.identityOf(walFile) === this.#file.identity && this.#seal.isUnbroken(this.#file, this.#now);
  }

  /** Notes how this process leaves it, for `isStill`. */
  rest(): void {
    this.#seal.noteIn(this.#file, this.#now);
  }

  get bytes(): number {
    return this.#now.end;
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
    const json = await inTurns(encodeFiles({ ...record, inode: this.inode }));
    refuseLength(this.#now.end + headBytes + json.length);
    if (!this.isSetUp && !isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(relaxedMark));
    if (this.isSetUp && this.isRelaxed && isFlushed) this.#file.write(relaxedOffset, Uint8Array.of(0));
    if (this.isOfEarlierVersion) await this.checkpoint();
    const { next: first } = this.#now;
    if (!this.isSetUp) writeCheckpoint(this.#file, this.#home, this.#now, { first, history: this.history });
    // Another process can have died after a failed flush. A new flush covers only what is written again.
    else if (!this.#isHeaderSure) this.#file.write(0, this.#file.read(0, recordsStart));
    const head = await inTurns(encodeHead(this.#now.checkpoint.salt, this.#now.next, json));
    const at = this.#now.end;
    await inTurns(writeRecord(this.#file, at, head, json));
    if (isFlushed) await flushRecord(this.#file, at);
    this.#isHeaderSure = true;
    this.#now.last = at;
    this.#seal.note(head);
    this.#now.lastBoot = record.boot;
    this.#now.end += head.length + json.length;
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
  async checkpoint(): Promise<void> {
    const replaced = this.#replaceCheckpoint();
    try {
      await this.#file.flush();
    } catch (error) {
      takeBackCheckpoint(this.#file, this.#now, replaced);
      throw error;
    }
    this.#forgetRecords();
  }

  /** The same, at the end of the process. */
  checkpointNow(): void {
    const replaced = this.#replaceCheckpoint();
    try {
      this.#file.flushNow();
    } catch (error) {
      takeBackCheckpoint(this.#file, this.#now, replaced);
      throw error;
    }
    this.#forgetRecords();
  }

  #replaceCheckpoint(): Pick<WalTail, "checkpoint" | "slot"> {
    const { checkpoint, slot } = this.#now;
    this.#file.write(distrustOffset, Uint8Array.of(0));
    // The checkpoint with the higher sequence counts, so the two must differ.
    const first = Math.max(this.#now.next, checkpoint.first + 1);
    writeCheckpoint(this.#file, this.#home, this.#now, { first, history: this.history });
    return { checkpoint, slot };
  }

  #forgetRecords(): void {
    this.#seal.forget();
    Object.assign(this.#now, { next: this.#now.checkpoint.first, end: recordsStart, last: 0 });
  }

  /** Clears the space of dropped records, and frees most of it; all of it on a disk that has no room to clear it. */
  shrink(): void {
    if (this.isEmpty) clearRoom(this.#file);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

/** The checkpoint that counts, and which of the two places holds it. */
interface PresentCheckpoint {
  checkpoint: Checkpoint;
  slot: number;
}

/** Writes a checkpoint into the place that does not count, which then does. */
function writeCheckpoint(
  file: DiskFile,
  home: WalHome,
  now: PresentCheckpoint,
  { first, history }: Pick<Checkpoint, "first" | "history">,
): void {
  const checkpoint: Checkpoint = { version: writtenVersion, first, salt: newSalt(), history };
  now.slot = 1 - now.slot;
  file.write(checkpointOffsets[now.slot] ?? 0, encodeCheckpoint(checkpoint, home.owner));
  now.checkpoint = checkpoint;
}

/**
 * The new checkpoint is perhaps not on the disk, and later records must not depend on it: the one before counts again.
 */
function takeBackCheckpoint(file: DiskFile, now: PresentCheckpoint, before: Readonly<PresentCheckpoint>): void {
  file.write(checkpointOffsets[now.slot] ?? 0, Buffer.alloc(checkpointBytesMax));
  Object.assign(now, before);
}

/**
 * Shows whether a WAL that is held open is as this process has left it. Somebody can copy another one over it, such as a
 * backup. What is compared is the last record's head up to its state, or without records the checkpoint: both have a check
 * or a salt that no other WAL has in this place.
 */
class WalSeal {
  /** `null` if it was not noted. */
  #bytes: Buffer | null = null;

  /** A record was appended. */
  note(record: Uint8Array): void {
    this.#bytes = Buffer.from(record.subarray(0, stateOffset));
  }

  forget(): void {
    this.#bytes = null;
  }

  /** Notes it, unless that is done. */
  noteIn(file: DiskFile, tail: Pick<WalTail, "last" | "slot">): void {
    this.#bytes ??= read(file, tail);
  }

  isUnbroken(file: DiskFile, tail: Pick<WalTail, "last" | "slot">): boolean {
    return this.#bytes !== null && this.#bytes.equals(read(file, tail));
  }
}

function read(file: DiskFile, { last, slot }: Pick<WalTail, "last" | "slot">): Buffer {
  return last > 0 ? file.read(last, stateOffset) : file.read(checkpointOffsets[slot] ?? 0, checkpointBytesMax);
}
