/**
 * Works on one home under its lock: finishes what was left unfinished, then commits change sets, one for each call.
 *
 * The order is the protocol: stage every file in full, append one record and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import { failureOfDisk } from "../../disk/disk-failure.ts";
import { isPurge } from "../../values/change-set.ts";
import type { ChangeSet, Seen } from "../../values/change-set.ts";
import type { HandedHome } from "../handed.ts";
import { sizesAfter } from "../scope-size.ts";
import type { KnownSizes } from "../scope-size.ts";
import { removeStaged } from "./commit/apply-files.ts";
import { needsRecovery } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { recover } from "./commit/recover.ts";
import { retireWal } from "./commit/retire.ts";
import type { Wal } from "./commit/wal.ts";
import { HomeChange } from "./home-change.ts";
import type { SessionCommit } from "./home-change.ts";
import { passOverFull, purge } from "./purge.ts";
import { settleRecords } from "./record-changes.ts";
import { SessionHistory } from "./session-history.ts";
import type { SessionPlace } from "./session-place.ts";
import type { SessionSetup } from "./session-setup.ts";
import { SessionWal } from "./session-wal.ts";
import { readSizes, writeSizes } from "./stored-sizes.ts";

/** Disposing of it closes everything and releases the lock. */
export class HomeSession implements Disposable {
  readonly #setup: SessionSetup;
  readonly #place: SessionPlace;
  readonly #log: SessionWal;
  readonly #history: SessionHistory;
  readonly #openedMs = performance.now();
  /** `null` if they were not read. */
  #storedSizes: KnownSizes | null = null;

  constructor(setup: SessionSetup, place: SessionPlace) {
    this.#setup = setup;
    this.#place = place;
    this.#log = new SessionWal(setup, place, () => this.#history.move());
    this.#history = new SessionHistory(setup, place, this.#log);
  }

  /** Where it works. */
  get place(): SessionPlace {
    return this.#place;
  }

  /** How long it has been open. */
  get ageMs(): number {
    return performance.now() - this.#openedMs;
  }

  /** Whether it can serve another call: nothing is left to finish, and nothing to retire. */
  get isAtRest(): boolean {
    const wal = this.#log.present;
    if (wal === null || !wal.isSetUp || (wal.isRelaxed && this.#setup.isFlushed)) return false;
    return this.tail !== null && !this.isBroken && !this.isRetireDue;
  }

  /** Closes what no further call needs, before the session is kept for one. */
  rest(): void {
    this.#place.rest();
    this.#log.present?.rest();
  }

  /** Whether the home, its lock and its WAL are where and as they were, for a session that was kept. */
  isStill(): boolean {
    const wal = this.#log.present;
    return this.#place.isLockInWay() && wal !== null && wal.isStill(this.#place.own);
  }

  /** Opens the WAL. Must be called first. */
  begin(): void {
    this.#log.open();
  }

  /** Records whose home it is, and makes everything that leads to it durable, as the first commit does. */
  async claim(): Promise<void> {
    if (!this.isSetUp) await this.#log.claimHome();
  }

  /** As long as the session is open. */
  get history(): SessionHistory {
    return this.#history;
  }

  /** For threads that read. */
  get handed(): HandedHome | null {
    const { home } = this.#place.folder;
    const folder = home.handed;
    return folder && { folder, folds: this.#setup.memo.foldsOf(home) };
  }

  /** Does only what the WAL's records say. */
  async recover(): Promise<void> {
    const { memo, boot, note } = this.#setup;
    await settleRecords(this.#place.own);
    const wal = this.#log.present;
    if (wal === null) {
      // Another process has erased the home that this one has known.
      memo.forgetTouched();
      removeStaged(this.#place.own);
      if (!this.#setup.isOwned && this.#setup.isThorough) await this.#log.claimHome();
      return;
    }
    if (!this.#setup.isOwned && wal.isSetUp) await this.#log.claimHome();
    if (wal.isSetUp && wal.isOfEarlierVersion) await this.#log.beginHistory().catch(passOverFull);
    await this.#takeOver(wal);
    using folders = this.#place.walk();
    if (needsRecovery(wal, boot)) {
      const moveVersions = (): Promise<void> => this.#history.move();
      await recover({ own: this.#place.own, folders, wal, boot, epochMs: Date.now(), note, moveVersions });
      if (wal.isEmpty) {
        memo.forgetTouched();
        wal.shrink();
      }
    } else if (!wal.isAsKnown) {
      removeStaged(this.#place.own);
    }
    memo.tail = wal.tail;
    // Whoever reads that it is broken begins another one.
    if (this.#setup.isThorough) await this.#history.load();
    if (wal.isOutdated || this.#setup.isThorough) await this.retire(false).catch(passOverFull);
    if (memo.isBroken) await this.#log.replace();
  }

  /** Remembers the files of all records. */
  async #takeOver(wal: Wal): Promise<void> {
    const { memo } = this.#setup;
    if (!wal.isContinued) memo.forgetTouched();
    for (const file of wal.records.flatMap(({ files }) => files)) memo.touch(file);
    memo.records += wal.records.length;
    await this.#history.takeOver(wal.records);
  }

  /** `null` if there is no WAL. */
  get wal(): Wal | null {
    return this.#log.present;
  }

  /** The WAL could not be flushed and not be replaced. */
  get isBroken(): boolean {
    return this.#setup.memo.isBroken;
  }

  /** Whether some host has committed here before. */
  get isSetUp(): boolean {
    return this.#log.present?.isSetUp === true;
  }
  /** The WAL as this process has left it; `null` if it has to be read. */
  get tail(): WalTail | null {
    return this.#setup.memo.tail;
  }

  /** Returns the sizes of scopes after the commit, as far as they were known before. */
  async commit(changes: ChangeSet, seen: readonly Seen[], more: SessionCommit): Promise<KnownSizes> {
    if (isPurge(changes)) return await this.#purge(changes, more);
    const { creator, facts, kind, knownSizes = {} } = more;
    const session = { setup: this.#setup, place: this.#place, log: this.#log, history: this.#history };
    const change = await HomeChange.plan(session, { changes, seen, creator, facts, kind });
    // They are those of the WAL as it was.
    this.#storedSizes = {};
    await change.record();
    if (await change.isEdited()) await change.takeBack();
    await change.apply();
    this.#place.checkCommitted();
    return sizesAfter(knownSizes, change.planned);
  }

  async #purge(changes: ChangeSet, { facts, derived, knownSizes = {} }: SessionCommit): Promise<KnownSizes> {
    // A record that has put a file into the trash would put it there again after a crash.
    await this.retire(false).catch(passOverFull);
    this.#place.check();
    // First, so that no crash leaves the contents of what nobody can purge any more. After the purge there is room.
    await this.#history.forget(changes, derived);
    const gone = await purge(changes, () => this.#place.walk(), this.#setup.isFlushed);
    await this.retire(false).catch(passOverFull);
    await this.#history.purged(gone, facts).catch(passOverFull);
    return this.storeSizes(sizesAfter(knownSizes, gone));
  }

  /** Makes all files durable and empties the WAL. */
  async retire(isIdle: boolean): Promise<void> {
    const { memo } = this.#setup;
    const wal = this.#log.present;
    if (wal === null || !memo.hasRecords) return;
    using folders = this.#place.walk();
    try {
      await this.#history.move();
      await retireWal({ folders, wal }, [...memo.touched.values()]);
      memo.forgetTouched();
      if (isIdle) wal.shrink();
      memo.tail = wal.tail;
      this.#history.retired();
    } catch (error) {
      memo.tail = null;
      throw failureOfDisk(error, "flush the user's files");
    }
  }

  /** The sizes that an earlier process has left. */
  storedSizes(): KnownSizes {
    this.#storedSizes ??= this.tail === null ? {} : readSizes(this.#place.own, this.tail);
    return this.#storedSizes;
  }

  /** Leaves the sizes to later processes, and returns them. */
  storeSizes(sizes: KnownSizes): KnownSizes {
    this.#storedSizes = null;
    if (this.tail !== null) writeSizes(this.#place.own, this.tail, sizes);
    return sizes;
  }

  /** Whether to retire the WAL. Never while the last record is perhaps unapplied: it would be dropped too. */
  get isRetireDue(): boolean {
    const { memo } = this.#setup;
    return memo.tail !== null && memo.isLong(this.#log.present?.bytes ?? 0);
  }

  [Symbol.dispose](): void {
    for (const each of [this.#log, this.#place]) each[Symbol.dispose]();
  }
}
