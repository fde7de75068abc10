/** Settles the frames of a home that is held: their files are flushed, and need no judgement after a crash. */
import { failureOfDisk } from "../../disk/disk-failure.ts";
import { flushTouched } from "./commit/flushing.ts";
import { hasOldHistory, packOldHistory } from "./journal/format-3.ts";
import type { JournalMoment } from "./journal/journal.ts";
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
    if (memo.hasFrames) {
      using folders = this.#place.walk();
      const { moment } = journal;
      await flushTouched({ folders, distrust: () => journal.markDistrusted() }, [...memo.touched.values()]).catch(
        (error: unknown) => {
          memo.tail = null;
          throw failureOfDisk(error, "flush the user's files");
        },
      );
      await this.note(moment);
    }
    if (isSure) await journal.flush();
  }

  /** Says that the files of all frames up to a moment are on the disk. */
  async note(moment: JournalMoment): Promise<void> {
    const { memo, journal, setup } = this.#place;
    if (journal === null || journal.isDistrusted || moment.seq <= journal.tail.settled || moment.seq > journal.end.seq)
      return;
    if (!setup.isFlushed) await journal.flush();
    journal.settle(moment);
    if (journal.hasPassingRecords) {
      await journal.flush();
      journal.forgetPassing();
    }
    memo.settled(moment.seq);
    memo.tail = journal.tail;
    this.#history.keep();
  }

  /** Begins another segment if the last one is long, and all of it is settled: then it can be packed. */
  async beginSegment(bytes: number): Promise<void> {
    const { journal, memo } = this.#place;
    if (journal === null || !journal.isLong(bytes) || journal.isDistrusted) return;
    journal.begin(this.#history.head);
    await journal.flush();
    memo.tail = journal.tail;
    this.#history.keep();
  }

  /** Settles everything, and packs what can be: nobody else waits for the home. */
  async retire(bytes: number): Promise<void> {
    await this.settle();
    await this.beginSegment(bytes);
    const { journal, home } = this.#place;
    if (journal === null) return;
    const { next, settled } = journal.tail;
    await this.tidyUp(await packSegments({ folder: journal.folder, owner: home.owner, next }, settled));
  }

  /** Puts packed segments into their places, and removes what the history need not keep. */
  async tidyUp(packed: readonly PackedSegment[]): Promise<void> {
    const { journal, own, home } = this.#place;
    if (journal === null) return;
    await placePacked(journal.folder, packed);
    if (hasOldHistory(own)) await packOldHistory(own, home, journal);
    await this.#history.tidyUp();
  }
}
