/** Settles the frames of a home that is held: their files are flushed, and need no judgement after a crash. */
import { failureOfDisk } from "../../disk/disk-failure.ts";
import { inTurns } from "../../values/turns.ts";
import { flushTouched } from "./commit/flushing.ts";
import { hasOldHistory, packOldHistory } from "./journal/format-3.ts";
import { markOf } from "./journal/history.ts";
import type { JournalEnd } from "./journal/journal-end.ts";
import type { Journal } from "./journal/journal.ts";
import { packSegments, placePacked } from "./journal/prune.ts";
import type { PackedSegment } from "./journal/prune.ts";
import type { SessionHistory } from "./session-history.ts";
import type { SessionPlace } from "./session-place.ts";

export class SessionSettling {
  readonly #place: SessionPlace;
  readonly #history: SessionHistory;

  constructor(place: SessionPlace, history: SessionHistory) {
    this.#place = place;
    this.#history = history;
  }

  /**
   * Flushes all files that frames name, and says so. `isSure`: durably, for what must not come back after a crash.
   */
  async settle(isSure = false): Promise<void> {
    const { memo, journal } = this.#place;
    if (journal === null || memo.tail === null) return;
    const { end } = journal;
    if (memo.hasFrames) {
      using folders = this.#place.walk();
      const by = { folders, distrust: () => journal.markDistrusted() };
      await flushTouched(by, [...memo.touched.values()]).catch((error: unknown) => {
        memo.tail = null;
        throw failureOfDisk(error, "flush the user's files");
      });
    }
    await this.note(end);
    if (isSure) await journal.flush();
  }

  /** Says that the files of all frames up to one are on the disk. */
  async note(end: JournalEnd): Promise<void> {
    const { memo, journal, setup } = this.#place;
    if (journal === null) return;
    await this.sayWhatIsLost();
    // What is said of a frame must not be on the disk before the frame is.
    if (!setup.isFlushed || journal.isRelaxed) await journal.flush();
    const isNew = end.seq > journal.tail.settled && end.seq <= journal.end.seq;
    if (isNew && !journal.settle(end)) {
      memo.tail = null;
      return;
    }
    const left = memo.lastPassing > 0 ? await inTurns(journal.passingLeft()) : [];
    if (left.length > 0) {
      await journal.flush();
      journal.forget(left);
    }
    if (memo.lastPassing <= journal.tail.settled) memo.lastPassing = 0;
    memo.settled(journal.tail.settled);
    this.#keep(journal);
  }

  /** If versions are missing, and the journal does not say so yet: before anything is written that would hide it. */
  async sayWhatIsLost(): Promise<void> {
    const { journal } = this.#place;
    const mark = markOf(this.#history.known);
    if (journal?.hasSegment !== true || journal.mark === mark) return;
    journal.begin(this.#history.head, { mark });
    await journal.flush();
    this.#keep(journal);
  }

  /** Begins another segment if the last one is long, and all of it is settled: then it can be packed. */
  async beginSegment(bytes: number): Promise<void> {
    const { journal } = this.#place;
    if (journal === null || !journal.isLong(bytes) || journal.isDistrusted) return;
    journal.begin(this.#history.head);
    await journal.flush();
    this.#keep(journal);
  }

  #keep(journal: Journal): void {
    this.#place.memo.tail = journal.tail;
    this.#history.keep();
  }

  /** Settles everything, and packs what can be: nobody else waits for the home. */
  async retire(bytes: number): Promise<void> {
    await this.settle();
    await this.beginSegment(bytes);
    const { journal } = this.#place;
    if (journal !== null) await this.tidyUp(await packSegments(journal.source, journal.tail.settled), true);
  }

  /** Puts packed segments into their places, and removes what the history need not keep. */
  async tidyUp(packed: readonly PackedSegment[], isAtRest = false): Promise<void> {
    const { journal } = this.#place;
    if (journal === null) return;
    await this.sayWhatIsLost();
    await placePacked(journal.folder, packed);
    await this.packOld();
    await this.#history.tidyUp(isAtRest);
  }

  /** Packs the history of an earlier format, which goes. */
  async packOld(): Promise<void> {
    const { journal, own, home } = this.#place;
    if (journal === null || !hasOldHistory(own)) return;
    await packOldHistory(own, { home, journal, writePresent: () => this.#history.writePresent(journal) });
  }
}
