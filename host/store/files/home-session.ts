/**
 * Works on one home under its lock: finishes what was left unfinished, then commits change sets, one for each call.
 *
 * The order is the protocol: stage every file in full, append one record and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import { failureOfDisk, isFullDisk } from "../../disk/disk-failure.ts";
import type { Change, ChangeSet } from "../../values/change-set.ts";
import type { UserId } from "../../values/ids.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { EngineCommit } from "../engine.ts";
import { StaleCall, planChanges } from "../plan-changes.ts";
import type { HandedHome } from "../readers.ts";
import { sizesAfter } from "../reading.ts";
import type { GrowingFile, KnownSizes } from "../reading.ts";
import { applyStaged, asPresent, isEdited, lastChangeUs, removeStaged, stageFiles } from "./commit/apply-files.ts";
import type { StagedPlan } from "./commit/apply-files.ts";
import { inFlushes } from "./commit/flushing.ts";
import { recover, replaceEdited } from "./commit/recover.ts";
import { retireWal } from "./commit/retire.ts";
import { needsRecovery, walLimits } from "./commit/wal-format.ts";
import type { RecordedFile, WalTail } from "./commit/wal-format.ts";
import type { Wal } from "./commit/wal.ts";
import type { WrittenVersion } from "./history/content-line.ts";
import { hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { removeRecords, settleRecords } from "./record-files.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import { SessionHistory, recordedVersions } from "./session-history.ts";
import type { HomeMemo, SessionPlace, SessionSetup } from "./session-place.ts";
import { SessionWal } from "./session-wal.ts";

/** A change set whose new contents are staged: next it is recorded, then applied or taken back. */
interface StagedChange extends StagedPlan {
  readonly creator: UserId | null;
  readonly versions: readonly WrittenVersion[];
}

/** Disposing of it closes everything and releases the lock. */
export class HomeSession implements Disposable {
  readonly place: SessionPlace;
  readonly history: SessionHistory;
  readonly #setup: SessionSetup;
  readonly #log: SessionWal;
  readonly #openedMs = performance.now();

  constructor(setup: SessionSetup, place: SessionPlace) {
    this.#setup = setup;
    this.place = place;
    this.#log = new SessionWal(setup, place, () => this.history.move());
    this.history = new SessionHistory(setup, place, this.#log);
  }

  get home(): FileHome {
    return this.#setup.home;
  }

  get memo(): HomeMemo {
    return this.#setup.memo;
  }

  /** How long it has been open. */
  get ageMs(): number {
    return performance.now() - this.#openedMs;
  }

  /** `null` if there is no WAL. */
  get wal(): Wal | null {
    return this.#log.present;
  }

  /** Whether some host has committed here before. */
  get isSetUp(): boolean {
    return this.wal?.isSetUp === true;
  }

  /** The WAL as this process has left it; `null` if it has to be read. */
  get tail(): WalTail | null {
    return this.memo.tail;
  }

  /** Whether to retire the WAL. Never while the last record is perhaps unapplied: it would be dropped too. */
  get isRetireDue(): boolean {
    const { tail, memo } = this;
    if (tail === null) return false;
    const { retireBytes, retireRecords, retireFiles } = walLimits;
    const records = tail.next - tail.checkpoint.first;
    return tail.end >= retireBytes || records >= retireRecords || memo.touched.size >= retireFiles;
  }

  /** Whether it can serve another call: nothing is left to finish, and nothing to retire. */
  get isAtRest(): boolean {
    if (!this.isSetUp || (this.wal?.isRelaxed === true && this.#setup.isFlushed)) return false;
    return this.tail !== null && !this.memo.isBroken && !this.isRetireDue;
  }

  /** Closes what no further call needs, before the session is kept for one. */
  rest(): void {
    this.place.rest();
    this.wal?.rest();
  }

  /** Whether the home, its lock and its WAL are where and as they were, for a session that was kept. */
  isStill(): boolean {
    return this.place.isLockInWay() && this.wal?.isStill(this.place.own) === true;
  }

  /** For threads that read. */
  get handed(): HandedHome | null {
    const { home } = this.place.folder;
    const folder = home.handed;
    return folder && { key: this.home.key, folder, folds: this.memo.foldsOf(home) };
  }

  /** Opens the WAL. Must be called first. */
  begin(): void {
    this.#log.open();
  }

  /** Does only what the WAL's records say. */
  async recover(): Promise<void> {
    const { memo, boot, note, isOwned, isThorough } = this.#setup;
    const { own } = this.place;
    if (await settleRecords(own)) removeStaged(own);
    const { wal } = this;
    if (wal === null) {
      // Another process has erased the home that this one has known.
      memo.forgetTouched();
      removeStaged(own);
      if (!isOwned && isThorough) await this.#log.claimHome();
      return;
    }
    if (!isOwned && wal.isSetUp) await this.#log.claimHome();
    if (wal.isSetUp && wal.isOfEarlierVersion) await this.#log.beginHistory().catch(passOverFull);
    if (!wal.isContinued) memo.forgetTouched();
    for (const file of wal.records.flatMap(({ files }) => files)) memo.touch(file);
    await this.history.takeOver(wal.records);
    if (needsRecovery(wal, boot)) {
      using folders = this.place.walk();
      const moveVersions = (): Promise<void> => this.history.move();
      await recover({ own, folders, wal, boot, epochMs: Date.now(), note, moveVersions });
      if (wal.isEmpty) {
        memo.forgetTouched();
        wal.shrink();
      }
    } else if (!wal.isAsKnown) {
      removeStaged(own);
    }
    memo.tail = wal.tail;
    // Whoever reads that it is broken begins another one.
    if (isThorough) await this.history.load();
    if (wal.isOutdated || isThorough) await this.retire(false).catch(passOverFull);
    if (memo.isBroken) await this.#log.replace();
  }

  /** Returns the sizes of scopes after the commit, as far as they were known before. */
  async commit(commit: EngineCommit, knownSizes: KnownSizes): Promise<KnownSizes> {
    if (this.tail === null && this.isSetUp) {
      // The commit before could perhaps not be applied. Only the last record of a WAL is ever applied later.
      this.begin();
      await this.recover();
    }
    if (commit.kind === "purged") return sizesAfter(knownSizes, await this.#purge(commit));
    try {
      return sizesAfter(knownSizes, await this.#change(commit));
    } catch (error) {
      if (!isFullDisk(error) || !onlyRemovesRecords(commit)) throw error;
    }
    // A record of the log that has made one would make it again after a crash.
    await this.retire(false).catch(passOverFull);
    this.place.check();
    const paths = commit.changes.map(({ path }) => path);
    await removeRecords(this.place.own, paths);
    return knownSizes;
  }

  async #change(commit: EngineCommit): Promise<readonly GrowingFile[]> {
    const change = await this.#stage(commit);
    await this.#record(change);
    if (await inTurns(isEdited(change.folders, change.files))) await this.#takeBack(change);
    await this.#apply(change);
    this.place.checkCommitted();
    return change.files;
  }

  /** Plans the change and writes its new contents to staged files. */
  async #stage({ home, by, changes, seen, facts, kind, lowered }: EngineCommit): Promise<StagedChange> {
    const folders = this.place.scopes();
    const planned = await inTurns(planChanges(folders, changes, seen));
    const versions = await this.history.plan({ facts, kind, planned, seen }, lowered, folders);
    const staged = await inTurns(stageFiles(this.place.own, folders, planned));
    return { ...staged, creator: home.kind === "store" ? by : null, versions };
  }

  /** Writes the record and makes it durable. */
  async #record({ creator, folders, files: planned, stagedUs, versions: added }: StagedChange): Promise<void> {
    const files: RecordedFile[] = [];
    for (const file of planned) {
      await giveTurn();
      files.push(Object.assign({ way: folders.inodesOnWay(file.scope, file.path) }, file));
    }
    await this.#log.write({ files, stagedUs, ...recordedVersions(added) }, creator);
    await this.history.recorded(added);
  }

  /** Cancels the record, of which nothing is applied. A second record says that all files are as they are now. */
  async #takeBack(change: StagedChange): Promise<never> {
    const { creator, folders, files, versions } = change;
    for (const file of files) this.memo.touch(file);
    this.memo.tail = null;
    this.history.takeBack(versions);
    this.wal?.markApplied(null);
    await this.#log.write({ files: asPresent(folders, files), voids: true }, creator);
    await this.#markApplied(change);
    this.memo.tail = null;
    throw new StaleCall();
  }

  /** Applies the recorded change. What cannot be applied now is applied by the next call. */
  async #apply(change: StagedChange): Promise<void> {
    this.history.committed(change.versions);
    for (const file of change.files) this.memo.touch(file);
    try {
      await this.#applyStaged(change);
      await this.#markApplied(change);
    } catch (error) {
      this.memo.tail = null;
      const { message } = failureOfDisk(error, "apply it");
      this.#setup.note(`a committed change could not be applied yet (${message})`);
    }
  }

  /** What somebody has written since the plan goes to the trash first. */
  async #applyStaged(change: StagedChange): Promise<void> {
    const left = await inTurns(applyStaged(change, this.#setup.isFlushed));
    const { wal } = this;
    if (left.length === 0 || wal === null) return;
    const aside = { own: this.place.own, folders: change.folders, wal, epochMs: Date.now() };
    for (const text of await replaceEdited(aside, left)) this.#setup.note(text);
  }

  async #markApplied({ folders, files }: StagedChange): Promise<void> {
    this.wal?.markApplied(await inTurns(lastChangeUs(this.place.own, folders, files)));
    this.memo.tail = this.wal?.tail ?? null;
  }

  async #purge({ changes, facts, derived }: EngineCommit): Promise<readonly GrowingFile[]> {
    // A record that has put a file into the trash would put it there again after a crash.
    await this.retire(false).catch(passOverFull);
    this.place.check();
    // First, so that no crash leaves the contents of what nobody can purge any more. After the purge there is room.
    await this.history.forget(changes, derived);
    const gone = await purge(changes, () => this.place.walk(), this.#setup.isFlushed);
    await this.retire(false).catch(passOverFull);
    await this.history.purged(gone, facts).catch(passOverFull);
    return gone;
  }

  /** Makes all files durable and empties the WAL. */
  async retire(isIdle: boolean): Promise<void> {
    const { memo, wal } = this;
    if (wal === null || !memo.hasRecords) return;
    using folders = this.place.walk();
    try {
      await this.history.move();
      await inFlushes(retireWal({ folders, wal }, [...memo.touched.values()]));
      memo.forgetTouched();
      if (isIdle) wal.shrink();
      memo.tail = wal.tail;
      this.history.retired();
    } catch (error) {
      memo.tail = null;
      throw failureOfDisk(error, "flush the user's files");
    }
  }

  [Symbol.dispose](): void {
    this.#log[Symbol.dispose]();
    this.place[Symbol.dispose]();
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
  const byFolder = new Map<string, Change[]>();
  for (const change of changes) {
    const folder = `${change.scope}/${change.path.slice(0, change.path.lastIndexOf("/"))}`;
    const together = byFolder.get(folder) ?? [];
    byFolder.set(folder, together);
    together.push(change);
  }
  const gone: GrowingFile[] = [];
  for (const together of byFolder.values()) {
    using folders = openFolders();
    for (const { scope, path } of together) {
      await giveTurn();
      const place = folders.find(scope, path);
      // Of any size, and with any number of names: the file is not read.
      const measured = place && place.folder.measure(place.name);
      if (place === null || measured === null) continue;
      place.folder.remove(place.name);
      gone.push({ scope, path, growth: { files: -1, bytes: -measured.bytes } });
    }
    if (isFlushed) await folders.flush();
  }
  return gone;
}
