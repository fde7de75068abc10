/**
 * Works on one home under its lock: finishes what was left unfinished, then commits change sets, one for each call.
 *
 * The order is the protocol: stage every file in full, append one record and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import { failureOfDisk, isFullDisk } from "../../disk/disk-failure.ts";
import type { Change, ChangeSet } from "../../values/change-set.ts";
import { giveTurn } from "../../values/turns.ts";
import type { EngineCommit } from "../engine.ts";
import type { HandedHome } from "../handed.ts";
import { sizesAfter } from "../scope-size.ts";
import type { GrowingFile, KnownSizes } from "../scope-size.ts";
import { removeStaged } from "./commit/apply-files.ts";
import { needsRecovery } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { recover } from "./commit/recover.ts";
import { retireWal } from "./commit/retire.ts";
import type { Wal } from "./commit/wal.ts";
import { HomeChange } from "./home-change.ts";
import { hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { removeRecords, settleRecords } from "./record-files.ts";
import type { ScopeFolders } from "./scope-folders.ts";
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

  get home(): FileHome {
    return this.#setup.home;
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

  /** As long as the session is open. */
  get history(): SessionHistory {
    return this.#history;
  }

  /** For threads that read. */
  get handed(): HandedHome | null {
    const { home } = this.#place.folder;
    const folder = home.handed;
    return folder && { key: this.home.key, folder, folds: this.#setup.memo.foldsOf(home) };
  }

  /** Does only what the WAL's records say. */
  async recover(): Promise<void> {
    const { memo, boot, note } = this.#setup;
    if (await settleRecords(this.#place.own)) removeStaged(this.#place.own);
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
  async commit(commit: EngineCommit, knownSizes: KnownSizes): Promise<KnownSizes> {
    if (this.tail === null && this.isSetUp) await this.#recoverAgain();
    if (commit.isPurge) return await this.#purge(commit, knownSizes);
    try {
      return await this.#change(commit, knownSizes);
    } catch (error) {
      if (!isFullDisk(error) || !onlyRemovesRecords(commit)) throw error;
    }
    // A record of the log that has made one would make it again after a crash.
    await this.retire(false).catch(passOverFull);
    this.#place.check();
    await removeRecords(
      this.#place.own,
      commit.changes.map(({ path }) => path),
    );
    return knownSizes;
  }

  /** The commit before could perhaps not be applied. Only the last record of a WAL is ever applied later. */
  async #recoverAgain(): Promise<void> {
    this.#log.open();
    await this.recover();
  }

  async #change(commit: EngineCommit, knownSizes: KnownSizes): Promise<KnownSizes> {
    const session = { setup: this.#setup, place: this.#place, log: this.#log, history: this.#history };
    const change = await HomeChange.plan(session, commit);
    // They are those of the WAL as it was.
    this.#storedSizes = {};
    await change.record();
    if (await change.isEdited()) await change.takeBack();
    await change.apply();
    this.#place.checkCommitted();
    return sizesAfter(knownSizes, change.planned);
  }

  async #purge({ changes, facts, derived }: EngineCommit, knownSizes: KnownSizes): Promise<KnownSizes> {
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

/** Such a commit must also work on a full disk: what waits must never be stuck. */
const onlyRemovesRecords = ({ changes, lowered }: EngineCommit): boolean =>
  lowered.length === 0 && changes.every(({ kind, scope }) => kind === "remove" && scope === hostFolder);

/** A purge must free space where there is none. */
function passOverFull(error: unknown): void {
  if (!isFullDisk(error)) throw error;
}

/**
 * Removes files from the trash for good. A purge has no record in the write-ahead log: it must also work on a disk with
 * nothing free, and whoever wants a file gone loses nothing if a crash leaves it in the trash. `openFolders` is called for
 * each folder, so that few are open at once. Files that have gone meanwhile are left out.
 */
async function purge(changes: ChangeSet, openFolders: () => ScopeFolders, isFlushed: boolean): Promise<GrowingFile[]> {
  const gone: GrowingFile[] = [];
  for (const together of byFolder(changes)) {
    using folders = openFolders();
    for (const file of together) {
      await giveTurn();
      gone.push(...removeFrom(folders, file));
    }
    if (isFlushed) await folders.flush();
  }
  return gone;
}

function byFolder(changes: ChangeSet): Iterable<Change[]> {
  const folders = new Map<string, Change[]>();
  for (const change of changes) {
    const folder = `${change.scope}/${change.path.slice(0, change.path.lastIndexOf("/"))}`;
    const together = folders.get(folder);
    if (together === undefined) folders.set(folder, [change]);
    else together.push(change);
  }
  return folders.values();
}

function removeFrom(folders: ScopeFolders, { scope, path }: Change): GrowingFile[] {
  const place = folders.find(scope, path);
  // Of any size, and with any number of names: the file is not read.
  const measured = place && place.folder.measure(place.name);
  if (place === null || measured === null) return [];
  place.folder.remove(place.name);
  return [{ scope, path, growth: { files: -1, bytes: -measured.bytes } }];
}
