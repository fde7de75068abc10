/**
 * The journal of a home: frames are appended and flushed before any file changes. What is said of its bytes is in `format.ts`,
 * and why they are as they are in `host/store/JOURNAL.md`.
 */
import type { Directory, DiskFile } from "../../../disk/directory.ts";
import { failureOfDisk } from "../../../disk/disk-failure.ts";
import { inodeIn } from "../../../disk/folder-handle.ts";
import { noHash } from "../../../log-file/chain.ts";
import { ToolError, orInstead } from "../../../values/tool-error.ts";
import { inTurns } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import { noVersion } from "../../versions/version.ts";
import type { VersionHead } from "../../versions/version.ts";
import type { FileHome } from "../home.ts";
import {
  appliedOffset,
  decodeHeader,
  encodeApplied,
  encodeFrame,
  encodeHeader,
  distrustedState,
  encodeState,
  headerBytes,
  journalLimits,
} from "./format.ts";
import type { HistoryMark, NewFrame, SegmentState } from "./format.ts";
import { readJournalEnd, writeJournalEnd } from "./journal-end.ts";
import type { JournalEnd } from "./journal-end.ts";
import { emptyTail, endOf, readAll, readOn, readPacked, withoutSegment } from "./read-journal.ts";
import type {
  AddedFrame,
  JournalSource,
  JournalTail,
  OpenSegment,
  ReadJournal,
  StoredFrame,
  Unsettled,
} from "./read-journal.ts";
import { Segments, journalFolder, logName, overwrite } from "./segments.ts";
import type { PlacedLine, SegmentsSource } from "./segments.ts";
import { FrameUnflushable, erase, tooLong, writeFrame } from "./write-frame.ts";

interface JournalOpening {
  /** What this process remembers of it. */
  readonly known?: JournalTail | null;
  /** The machine's boot id: with frames of another one, all are read. Default: not known. */
  readonly boot?: string | null;
  readonly isRead?: boolean;
}

/** With what a journal begins if there is none. */
interface JournalStart {
  /** The number of its first frame. */
  readonly next: number;
  /** Its name until it is whole. */
  readonly folder?: string;
  readonly mark: HistoryMark;
}

export class Journal implements Unsettled, Disposable {
  readonly folder: Directory;
  readonly #own: Directory;
  readonly #home: FileHome;
  /** Its last segment; `null` before the first. */
  #segment: OpenSegment | null;
  #state: SegmentState;
  #tail: JournalTail;
  #mark: HistoryMark;
  /** The frames that are not settled. If `isContinued`, only those that were added since the journal was remembered. */
  readonly frames: readonly StoredFrame[];
  readonly added: readonly AddedFrame[];
  readonly isContinued: boolean;
  /** In the last segment, the last frame that was read now of which nobody needs all texts once it is settled; 0 if there is none. */
  readonly lastPassing: number;
  /** How this process has left it: the beginnings of the segment and of its last frame. `null` if that was not noted. */
  #seal: Buffer | null = null;

  private constructor(own: Directory, home: FileHome, folder: Directory, read: ReadJournal) {
    this.folder = folder;
    this.#own = own;
    this.#home = home;
    this.#segment = read.segment;
    this.#state = read.state;
    this.#tail = read.tail;
    this.#mark = read.mark;
    this.frames = read.frames;
    this.added = read.added;
    this.isContinued = read.isContinued;
    this.lastPassing = read.lastPassing;
  }

  /** `null` if there is none. Throws `JournalDamaged` if what is there is none, or is another home's. */
  static open(
    own: Directory,
    home: FileHome,
    { known = null, boot = null, isRead = false }: JournalOpening = {},
  ): Journal | null {
    // A log of an earlier format is a file.
    const folder = orInstead(() => own.openFolder(journalFolder), null, "STORAGE_UNSAFE");
    if (folder === null) return null;
    try {
      const from: JournalSource = { folder, home, use: isRead ? "read" : "write" };
      const read = (known && readOn(from, known, boot)) ?? readAll(from) ?? readPacked(from);
      if (read !== null) return new Journal(own, home, folder, read);
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
    folder[Symbol.dispose]();
    return null;
  }

  /** Makes one without a segment: the first frame begins it. Durable once `own` and its folder are flushed. */
  static make(own: Directory, home: FileHome, { next, mark, folder = journalFolder }: JournalStart): Journal {
    // What a journal that was lost has left says that it was there.
    const recorded = readJournalEnd(own);
    if (recorded === null || recorded === "empty") writeJournalEnd(own, { seq: 0, hash: noHash });
    return new Journal(own, home, own.makeFolder(folder), withoutSegment({ next, lastHash: noHash }, mark));
  }

  get tail(): JournalTail {
    return this.#tail;
  }

  /** Nobody has written to it since it was remembered. */
  get isAsKnown(): boolean {
    return this.isContinued && this.added.length === 0;
  }

  get isDistrusted(): boolean {
    return this.#state.isDistrusted;
  }

  /** It was set up without a flush: the folders that lead to it are perhaps not on the disk. */
  get isRelaxed(): boolean {
    return this.#state.isRelaxed;
  }

  /** What is known of the versions before the last segment. */
  get mark(): HistoryMark {
    return this.#mark;
  }

  /** The last version before the last segment. */
  get headBefore(): VersionHead {
    return this.#segment?.header.head ?? noVersion;
  }

  /** Its last frame. */
  get end(): JournalEnd {
    return endOf(this.#tail);
  }

  /** How many frames are not settled. */
  get unsettled(): number {
    return this.#tail.next - 1 - this.#tail.settled;
  }

  /** What its segments say. */
  get segments(): Segments {
    return new Segments(this.source);
  }

  get source(): SegmentsSource {
    const { next, first } = this.#tail;
    const source = { folder: this.folder, owner: this.#home.owner, next, last: first };
    return this.#segment === null ? source : { ...source, file: this.#segment.file };
  }

  get hasSegment(): boolean {
    return this.#segment !== null;
  }

  /** Whether it is time for another segment. */
  isLong(bytes: number): boolean {
    return this.#tail.end >= bytes;
  }

  /** Notes how this process leaves it, for `isStill`. */
  rest(): void {
    try {
      this.#seal ??= this.#readSeal();
    } catch {
      // What cannot be read now, the next call reads.
    }
  }

  /** Whether it still has its name, and is as this process has left it: somebody can copy another one over it. */
  isStill(): boolean {
    const { first, identity, next } = this.#tail;
    const isLast = next === first || this.folder.identityOf(logName(next)) === null;
    return (
      isLast &&
      this.folder.identityOf(logName(first)) === identity &&
      this.#own.identityOf(journalFolder) === this.folder.identity &&
      this.#seal?.equals(this.#readSeal()) === true &&
      // Whoever flushes files beside calls can have said so before this process left it.
      !this.#seal.includes(distrustedState)
    );
  }

  /** Two reads: to decode the beginning costs a tenth of a call. */
  #readSeal(): Buffer {
    const { last } = this.#tail;
    const header = this.#file.read(0, headerBytes);
    return last > 0 ? Buffer.concat([header, this.#file.read(last, appliedOffset)]) : header;
  }

  get #file(): DiskFile {
    if (this.#segment === null) throw new RangeError("The journal has no segment");
    return this.#segment.file;
  }

  /**
   * Appends a frame and, if `isFlushed`, makes it durable. From then on the change set is committed. A frame that fails
   * does not count. `head`: the last version before it.
   */
  async append(frame: NewFrame, head: VersionHead, isFlushed: boolean): Promise<void> {
    if (this.#segment === null || this.#isCopied || this.isLong(journalLimits.longBytes)) {
      this.begin(head, { isRelaxed: !isFlushed });
    }
    if (this.isRelaxed === isFlushed || this.#state.settled > this.#tail.settled) {
      // A frame must not count as settled because somebody has changed the number.
      this.#write({ isRelaxed: !isFlushed, settled: this.#tail.settled });
      this.#tail = { ...this.#tail, isSure: false };
    }
    // Another process can have died after a failed flush. A new flush covers only what is written again.
    const { next, hash, end: at, isSure } = this.#tail;
    if (!isSure) this.#file.write(0, this.#file.read(0, headerBytes));
    const encoded = await inTurns(encodeFrame(next, hash, frame));
    const end = at + encoded.head.length + encoded.body.length;
    if (end > journalLimits.fileBytesMax) throw tooLong(end);
    this.#seal = null;
    await inTurns(writeFrame(this.#file, at, encoded));
    if (isFlushed) await this.#flushFrame(at);
    this.#tail = {
      ...this.#tail,
      next: next + 1,
      end,
      hash: encoded.hash,
      last: at,
      lastHash: encoded.hash,
      isSure: isSure || isFlushed,
    };
  }

  get #isCopied(): boolean {
    return this.#segment !== null && this.#segment.header.inode !== inodeIn(this.#segment.file.identity);
  }

  /** After a failed flush, the system can take the pages for written, so the file must not be flushed again. */
  async #flushFrame(at: number): Promise<void> {
    try {
      await this.#file.flush(true);
      // Behind it: a name without its content must not be found after a crash.
      if (!this.#tail.isSure) await this.folder.flush();
    } catch (error) {
      erase(this.#file, at);
      const { tableCode, message, cause } = failureOfDisk(error, "make the change durable");
      throw new FrameUnflushable(tableCode, message, { cause });
    }
  }

  /**
   * Begins a segment, after which nothing counts that stands behind the last frame of the one before. Durable once it and the
   * journal's folder are flushed. `head`: the last version until now.
   */
  begin(
    head: VersionHead,
    change: Partial<Pick<SegmentState, "isRelaxed" | "isDistrusted">> & { readonly mark?: HistoryMark } = {},
  ): void {
    const { lastHash: prev } = this.#tail;
    const { next, settled } = change.mark === undefined ? this.#tail : this.#behindLost();
    const name = logName(next);
    // A file that could not be flushed has perhaps one of these names: it must not be used again. What was in it can come back after a crash.
    if (this.folder.measure(staged) !== null) this.folder.remove(staged);
    const file = this.folder.openFile(staged, name, "make");
    if (file === null) throw new ToolError("STORAGE_FAILED", "Cannot make the journal: it has gone meanwhile");
    try {
      const { isRelaxed = this.#state.isRelaxed, isDistrusted = this.#state.isDistrusted } = change;
      const state = { settled, isRelaxed, isDistrusted };
      const header = { first: next, prev, head, mark: change.mark ?? this.#mark, inode: inodeIn(file.identity) };
      const { bytes, hash } = encodeHeader(header, state, this.#home.owner);
      file.write(0, bytes);
      this.folder.rename(staged, this.folder, name);
      this.#segment?.file[Symbol.dispose]();
      this.#seal = null;
      this.#segment = { file, header: { ...header, hash, state, stateAt: bytes.indexOf("\n") + 1 } };
      this.#state = state;
      this.#mark = header.mark;
      const { identity } = file;
      this.#tail = emptyTail({ next, first: next, identity, hash, lastHash: prev, settled });
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** Where a segment begins that says that versions are missing: behind all that is told of, so that what is left there stays. */
  #behindLost(): Pick<JournalTail, "next" | "settled"> {
    const { next: end, first, settled } = this.#tail;
    const recorded = readJournalEnd(this.#own);
    const last = recorded === null || typeof recorded === "string" ? 0 : recorded.seq;
    const next = Math.max(end, first + 1, last + 1);
    return { next, settled: settled === end - 1 ? next - 1 : settled };
  }

  /** Makes durable what `begin` has done. */
  async flush(): Promise<void> {
    await this.#file.flush();
    await this.folder.flush();
    this.#tail = { ...this.#tail, isSure: true };
  }

  /** The same, at the end of the process. */
  flushNow(): void {
    this.#file.flushNow();
  }

  /**
   * Makes durable the frames that another process has left. Its own flush can have failed before it died, and a new flush
   * covers only what is written again.
   */
  async confirm(): Promise<void> {
    this.#file.write(0, this.#file.read(0, this.#tail.end));
    await this.flush();
  }

  /**
   * Marks the last frame as applied; `appliedUs`: when, if that is known. Not flushed: after a crash, a frame without a
   * mark is still applied, only with less knowledge of what a person has changed since.
   */
  markApplied(appliedUs: number | null): void {
    if (this.#tail.last > 0) this.#file.write(this.#tail.last + appliedOffset, encodeApplied(appliedUs));
  }

  /** Marks that a flush has failed: the files' contents are perhaps not on the disk. */
  markDistrusted(): void {
    this.#write({ isDistrusted: true });
  }

  /**
   * Says that all files are on the disk up to a frame, by default the last one. Not flushed: after a crash, they are judged
   * again. The frames must be. `false` if a flush has failed since they were: then nothing is settled, unless it `isRebuilt`.
   */
  settle({ seq, hash }: JournalEnd = this.end, isRebuilt = false): boolean {
    if (this.#readState().isDistrusted && !isRebuilt) return false;
    this.#write({ settled: seq, isDistrusted: false });
    this.#tail = { ...this.#tail, settled: seq };
    writeJournalEnd(this.#own, { seq, hash });
    return true;
  }

  /** The texts in settled frames of the last segment that nobody needs, which are to be overwritten. */
  passingLeft(): Pieces<PlacedLine[]> {
    return this.segments.passingIn(this.#tail.first, this.#tail.settled);
  }

  /** That the frames are settled must be on the disk. */
  forget(contents: readonly PlacedLine[]): void {
    overwrite(this.#file, contents);
  }

  /** As it is on the disk: whoever flushes files beside calls can have marked it. */
  #readState(): SegmentState {
    const { first } = this.#tail;
    return decodeHeader(this.#file.read(0, headerBytes), this.#home.owner, first)?.state ?? this.#state;
  }

  #write(change: Partial<SegmentState>): void {
    this.#seal = null;
    this.#state = { ...this.#readState(), ...change };
    this.#file.write(this.#segment?.header.stateAt ?? 0, Buffer.from(encodeState(this.#state)));
  }

  [Symbol.dispose](): void {
    this.#segment?.file[Symbol.dispose]();
    this.folder[Symbol.dispose]();
  }
}

const staged = "staged-segment";
