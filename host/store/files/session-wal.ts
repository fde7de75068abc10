import { failureOfDisk } from "../../disk/disk-failure.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import type { UserId } from "../../values/ids.ts";
import { removeStagedQuietly } from "./commit/apply-files.ts";
import { inFlushes } from "./commit/flushing.ts";
import { flushTouched } from "./commit/retire.ts";
import { WalDamaged, damagedWalPrefix, relaxedMark, relaxedOffset, walFile } from "./commit/wal-format.ts";
import type { WalRecord } from "./commit/wal-format.ts";
import { Wal, WalUnflushable } from "./commit/wal.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import { claimCreator, claimOwner } from "./home-owner.ts";
import { putAside } from "./put-aside.ts";
import type { SessionPlace, SessionSetup } from "./session-place.ts";

/** The WAL of a session: opened, set up by the first record, and replaced after a failed flush. */
export class SessionWal implements Disposable {
  readonly #setup: SessionSetup;
  readonly #place: SessionPlace;
  readonly #beforeReplace: () => Promise<void>;
  #wal: Wal | null = null;

  /** The caller closes the place. `beforeReplace` is called before the records are dropped with the WAL. */
  constructor(setup: SessionSetup, place: SessionPlace, beforeReplace: () => Promise<void>) {
    this.#setup = setup;
    this.#place = place;
    this.#beforeReplace = beforeReplace;
  }

  /** `null` if there is no WAL yet. */
  get present(): Wal | null {
    return this.#wal;
  }

  /** Opens the WAL, perhaps again. Puts it aside if it cannot be read. */
  open(): void {
    const { home, memo, note } = this.#setup;
    this.#wal?.[Symbol.dispose]();
    this.#wal = null;
    try {
      this.#wal = Wal.open(this.#place.own, home, { known: memo.tail });
    } catch (error) {
      if (!(error instanceof WalDamaged)) throw error;
      note(`${error.message}; it was put aside as ${putAside(this.#place.own, walFile, damagedWalPrefix)}`);
      // It had perhaps the last versions.
      using history = HistoryFolder.make(this.#place.own);
      history.markLost();
      memo.tail = null;
    }
  }

  /**
   * Appends a record and makes it durable. `creator` is recorded if the home is a store. If that fails, removes the
   * staged files.
   */
  async write(record: Omit<WalRecord, "boot">, creator: UserId | null): Promise<void> {
    const { home, isFlushed, boot } = this.#setup;
    try {
      const wal = (this.#wal ??= Wal.make(this.#place.own, home));
      if (!wal.isSetUp || (isFlushed && wal.isRelaxed)) await this.#setUp(creator);
      else await this.#claim(creator);
      if (wal.isSetUp && wal.isOfEarlierVersion) await this.beginHistory();
      this.#place.checkLock();
      await wal.append({ boot, ...record }, isFlushed);
    } catch (error) {
      removeStagedQuietly(this.#place.own);
      if (!(error instanceof WalUnflushable)) throw error;
      Object.assign(this.#setup.memo, { isBroken: true, tail: null });
      await this.replace().catch((failure: unknown) =>
        this.#setup.note(`the WAL could not be replaced (${failureOfDisk(failure, "replace it").message})`),
      );
      throw failureOfDisk(error.cause, "make the change durable");
    }
  }

  /** Makes everything that leads to the WAL durable, before a record in it can be. */
  async #setUp(creator: UserId | null): Promise<void> {
    await claimOwner(this.#place.own, this.#setup.home);
    // The home is perhaps a new one in the place of one that is remembered.
    this.#setup.memo.seenCreator = null;
    await this.#claim(creator);
    HistoryFolder.make(this.#place.own)[Symbol.dispose]();
    await this.#flushWay();
  }

  /** Records whose home it is, durably, without a WAL. */
  async claimHome(): Promise<void> {
    await claimOwner(this.#place.own, this.#setup.home);
    await this.#flushWay();
  }

  async #flushWay(): Promise<void> {
    if (this.#setup.isFlushed) await this.#place.folder.flush();
  }

  /** The home has files from before there was a history. */
  async beginHistory(): Promise<void> {
    using history = HistoryFolder.make(this.#place.own);
    if (history.beganLate) return;
    history.markLate();
    await history.folder.flush();
    await this.#place.own.flush();
  }

  async #claim(creator: UserId | null): Promise<void> {
    const { home, memo } = this.#setup;
    if (creator === null || creator === memo.seenCreator) return;
    await claimCreator(this.#place.own, home, creator);
    memo.seenCreator = creator;
  }

  /**
   * Replaces a WAL whose flush has failed with a new, empty one. First flushes the files that the old WAL protects. The
   * new WAL has no checkpoint, so the writer of its first record flushes the folders that lead to it. So even if this
   * process dies before its own flush, no record depends on a name that can be lost.
   */
  async replace(): Promise<void> {
    const { memo, home } = this.#setup;
    const { own } = this.#place;
    const wal = this.#wal;
    if (wal === null) return;
    await this.#beforeReplace();
    {
      using folders = this.#place.walk();
      await inFlushes(flushTouched({ folders, wal }, [...memo.touched.values()]));
    }
    // The mark says so: folders are to be flushed, and this WAL was not emptied by somebody.
    const content = new Uint8Array(relaxedOffset + 1);
    content[relaxedOffset] = relaxedMark;
    await replaceFile(own, walFile, { content, shown: walFile, staged: `staged-${walFile}` });
    await own.flush();
    wal[Symbol.dispose]();
    memo.forgetTouched();
    memo.isBroken = false;
    memo.tail = null;
    this.#wal = Wal.open(own, home);
  }

  [Symbol.dispose](): void {
    this.#wal?.[Symbol.dispose]();
  }
}
