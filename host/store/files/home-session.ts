/**
 * Works on one home under its lock: finishes what was left unfinished, then commits change sets, one for each call.
 *
 * The order is the protocol: stage every file in full, append one record and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import { failureOfDisk, isFullDisk } from "../../disk/disk-failure.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import type { Change, ChangeSet } from "../../values/change-set.ts";
import type { UserId } from "../../values/ids.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { EngineCommit } from "../engine.ts";
import { StaleCall, planChanges } from "../plan-changes.ts";
import type { GrowingFile, KnownSizes } from "../reading.ts";
import { sizesAfter } from "../reading.ts";
import {
  applyStaged,
  asPresent,
  isEdited,
  lastChangeUs,
  removeStaged,
  removeStagedQuietly,
  stageFiles,
} from "./commit/apply-files.ts";
import type { StagedPlan } from "./commit/apply-files.ts";
import { inFlushes } from "./commit/flushing.ts";
import { recover, replaceEdited } from "./commit/recover.ts";
import { flushTouched, retireWal } from "./commit/retire.ts";
import {
  WalDamaged,
  damagedWalPrefix,
  needsRecovery,
  relaxedMark,
  relaxedOffset,
  walFile,
  walLimits,
} from "./commit/wal-format.ts";
import type { RecordedFile, WalRecord, WrittenVersion } from "./commit/wal-format.ts";
import { Wal, WalUnflushable } from "./commit/wal.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import { claimCreator, claimOwner } from "./home-owner.ts";
import { hostFolder } from "./home.ts";
import { putAside } from "./put-aside.ts";
import { removeRecords, settleRecords } from "./record-files.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import { SessionHistory, recordedVersions } from "./session-history.ts";
import type { HomeMemo, SessionPlace } from "./session-place.ts";

/** A change set whose new contents are staged: next it is recorded, then applied or taken back. */
interface StagedChange extends StagedPlan {
  readonly creator: UserId | null;
  readonly versions: readonly WrittenVersion[];
}

/** Takes over the place. Disposing of it closes everything and releases the lock. */
export class HomeSession implements Disposable {
  readonly place: SessionPlace;
  readonly memo: HomeMemo;
  readonly history: SessionHistory;
  readonly #openedMs = performance.now();

  constructor(place: SessionPlace) {
    this.place = place;
    this.memo = place.memo;
    this.history = new SessionHistory(place);
  }

  /** How long it has been open. */
  get ageMs(): number {
    return performance.now() - this.#openedMs;
  }

  /** Whether some host has committed here before. */
  get isSetUp(): boolean {
    return this.place.wal?.isSetUp === true;
  }

  /** Whether to retire the WAL. Never while the last record is perhaps unapplied: it would be dropped too. */
  get isRetireDue(): boolean {
    const { tail, touched } = this.memo;
    if (tail === null) return false;
    const { retireBytes, retireRecords, retireFiles } = walLimits;
    const records = tail.next - tail.checkpoint.first;
    return tail.end >= retireBytes || records >= retireRecords || touched.size >= retireFiles;
  }

  /** Whether it can serve another call: nothing is left to finish, and nothing to retire. */
  get isAtRest(): boolean {
    if (!this.isSetUp || (this.place.wal?.isRelaxed === true && this.place.setup.isFlushed)) return false;
    return this.memo.tail !== null && !this.memo.isBroken && !this.isRetireDue;
  }

  /** Opens the WAL, perhaps again. Puts it aside if it cannot be read. Must be called first. */
  begin(): void {
    const { home, memo, own, setup } = this.place;
    this.place.wal?.[Symbol.dispose]();
    this.place.wal = null;
    try {
      this.place.wal = Wal.open(own, home, { known: memo.tail });
    } catch (error) {
      if (!(error instanceof WalDamaged)) throw error;
      setup.note(`${error.message}; it was put aside as ${putAside(own, walFile, damagedWalPrefix)}`);
      // It had perhaps the last versions.
      using history = HistoryFolder.make(own);
      history.markLost();
      memo.tail = null;
    }
  }

  /** Does only what the WAL's records say. */
  async recover(): Promise<void> {
    const { memo, own, wal } = this.place;
    const { boot, note, isThorough } = this.place.setup;
    const isOwned = memo.ownedIdentity === own.identity;
    if (await settleRecords(own)) removeStaged(own);
    if (wal === null) {
      // Another process has erased the home that this one has known.
      memo.forgetTouched();
      removeStaged(own);
      if (!isOwned && isThorough) await this.#claimHome();
      return;
    }
    if (!isOwned && wal.isSetUp) await this.#claimHome();
    if (wal.isSetUp && wal.isOfEarlierVersion) await this.#beginHistory().catch(passOverFull);
    if (!wal.isContinued) memo.forgetTouched();
    for (const file of wal.records.flatMap(({ files }) => files)) memo.touch(file);
    await this.history.takeOver(wal.records);
    // If the rest fails, all records are read again: none is taken over twice.
    memo.tail = null;
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
    if (memo.isBroken) await this.#replaceWal();
  }

  /** Returns the sizes of scopes after the commit, as far as they were known before. */
  async commit(commit: EngineCommit, knownSizes: KnownSizes): Promise<KnownSizes> {
    if (this.memo.tail === null && this.isSetUp) {
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
    await this.#write({ files, stagedUs, ...recordedVersions(added) }, creator);
  }

  /** Cancels the record, of which nothing is applied. A second record says that all files are as they are now. */
  async #takeBack(change: StagedChange): Promise<never> {
    const { creator, folders, files } = change;
    for (const file of files) this.memo.touch(file);
    this.memo.tail = null;
    this.place.wal?.markApplied(null);
    await this.#write({ files: asPresent(folders, files), voids: true }, creator);
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
      this.place.setup.note(`a committed change could not be applied yet (${message})`);
    }
  }

  /** What somebody has written since the plan goes to the trash first. */
  async #applyStaged(change: StagedChange): Promise<void> {
    const left = await inTurns(applyStaged(change, this.place.setup.isFlushed));
    const { own, wal } = this.place;
    if (left.length === 0 || wal === null) return;
    const aside = { own, folders: change.folders, wal, epochMs: Date.now() };
    for (const text of await replaceEdited(aside, left)) this.place.setup.note(text);
  }

  async #markApplied({ folders, files }: StagedChange): Promise<void> {
    this.place.wal?.markApplied(await inTurns(lastChangeUs(this.place.own, folders, files)));
    this.memo.tail = this.place.wal?.tail ?? null;
  }

  async #purge({ changes, facts, derived }: EngineCommit): Promise<readonly GrowingFile[]> {
    // A record that has put a file into the trash would put it there again after a crash.
    await this.retire(false).catch(passOverFull);
    this.place.check();
    // First, so that no crash leaves the contents of what nobody can purge any more. After the purge there is room.
    await this.history.forget(changes, derived);
    const gone = await purge(changes, () => this.place.walk(), this.place.setup.isFlushed);
    await this.retire(false).catch(passOverFull);
    await this.history.purged(gone, facts).catch(passOverFull);
    return gone;
  }

  /** Makes all files durable and empties the WAL. */
  async retire(isIdle: boolean): Promise<void> {
    const { memo, wal } = this.place;
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

  /**
   * Appends a record and makes it durable, the first one with everything that leads to it. `creator` is recorded if the home
   * is a store. If that fails, removes the staged files.
   */
  async #write(record: Omit<WalRecord, "boot">, creator: UserId | null): Promise<void> {
    const { home, memo, own } = this.place;
    const { isFlushed, boot, note } = this.place.setup;
    try {
      const wal = (this.place.wal ??= Wal.make(own, home));
      if (!wal.isSetUp || (isFlushed && wal.isRelaxed)) await this.#setUp(creator);
      else await this.#claim(creator);
      if (wal.isSetUp && wal.isOfEarlierVersion) await this.#beginHistory();
      this.place.checkLock();
      await wal.append({ boot, ...record }, isFlushed);
    } catch (error) {
      removeStagedQuietly(own);
      if (!(error instanceof WalUnflushable)) throw error;
      Object.assign(memo, { isBroken: true, tail: null });
      await this.#replaceWal().catch((failure: unknown) =>
        note(`the WAL could not be replaced (${failureOfDisk(failure, "replace it").message})`),
      );
      throw error;
    }
  }

  async #setUp(creator: UserId | null): Promise<void> {
    const { home, memo, own } = this.place;
    await claimOwner(own, home);
    // The home is perhaps a new one in the place of one that is remembered.
    memo.seenCreator = null;
    await this.#claim(creator);
    HistoryFolder.make(own)[Symbol.dispose]();
    await this.#flushWay();
  }

  /** Records whose home it is, durably, without a WAL. */
  async #claimHome(): Promise<void> {
    await claimOwner(this.place.own, this.place.home);
    await this.#flushWay();
  }

  async #flushWay(): Promise<void> {
    if (this.place.setup.isFlushed) await this.place.folder.flush();
  }

  async #claim(creator: UserId | null): Promise<void> {
    const { home, memo, own } = this.place;
    if (creator === null || creator === memo.seenCreator) return;
    await claimCreator(own, home, creator);
    memo.seenCreator = creator;
  }

  /** The home has files from before there was a history. */
  async #beginHistory(): Promise<void> {
    using history = HistoryFolder.make(this.place.own);
    if (history.beganLate) return;
    history.markLate();
    await history.folder.flush();
    await this.place.own.flush();
  }

  /**
   * Replaces a WAL whose flush has failed with a new, empty one. First flushes the files that the old WAL protects. The
   * new WAL has no checkpoint, so the writer of its first record flushes the folders that lead to it. So even if this
   * process dies before its own flush, no record depends on a name that can be lost.
   */
  async #replaceWal(): Promise<void> {
    const { home, memo, own, wal } = this.place;
    if (wal === null) return;
    await this.history.move();
    {
      using folders = this.place.walk();
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
    this.place.wal = Wal.open(own, home);
  }

  [Symbol.dispose](): void {
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
