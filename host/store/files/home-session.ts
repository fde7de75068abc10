/**
 * Works on one home under its lock: finishes what was left unfinished, then commits change sets, one for each call.
 *
 * The order is the protocol: stage every file in full, append one frame and flush it, apply by renames, check that the
 * folder is still where it was. `host/store/RATIONALE.md` explains why.
 */
import { failureOfDisk, isFullDisk } from "../../disk/disk-failure.ts";
import type { UserId } from "../../values/ids.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { EngineCommit } from "../engine.ts";
import { StaleCall, planChanges } from "../plan-changes.ts";
import type { ChangedFile, PlannedFile } from "../plan-changes.ts";
import type { GrowingFile, KnownSizes } from "../reading.ts";
import { digestOf, sizesAfter } from "../reading.ts";
import type { PlannedVersion, VersionHead } from "../versions/version.ts";
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
import { recover, replaceEdited } from "./commit/recover.ts";
import type { HomeMemo } from "./home-memo.ts";
import { claimCreator, claimOwner } from "./home-owner.ts";
import { hostFolder } from "./home.ts";
import { readOldLog } from "./journal/format-3-log.ts";
import { openInJournal } from "./journal/format-3.ts";
import { JournalDamaged, journalLimits } from "./journal/format.ts";
import type { HashedContent, NewFrame } from "./journal/format.ts";
import { markOf } from "./journal/history.ts";
import { flushJournalEnd } from "./journal/journal-end.ts";
import { Journal } from "./journal/journal.ts";
import { needsRecovery } from "./journal/read-journal.ts";
import { removeEmpty } from "./journal/segments.ts";
import { FrameUnflushable } from "./journal/write-frame.ts";
import { purgeFiles } from "./purge-files.ts";
import { putAsideDamaged } from "./put-aside.ts";
import { removeRecords, settleRecords } from "./record-files.ts";
import { settleAll } from "./scope-folders.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import { SessionHistory } from "./session-history.ts";
import type { SessionPlace } from "./session-place.ts";
import { SessionSettling } from "./session-settling.ts";

/** A change set that is recorded: next it is applied or taken back. */
interface RecordedChange extends StagedPlan {
  readonly creator: UserId | null;
  readonly versions: readonly PlannedVersion[];
}

/** Takes over the place. Disposing of it closes everything and releases the lock. */
export class HomeSession implements Disposable {
  readonly place: SessionPlace;
  readonly memo: HomeMemo;
  readonly history: SessionHistory;
  readonly settling: SessionSettling;
  readonly #openedMs = performance.now();

  constructor(place: SessionPlace) {
    this.place = place;
    this.memo = place.memo;
    this.history = new SessionHistory(place);
    this.settling = new SessionSettling(place, this.history);
  }

  /** How long it has been open. */
  get ageMs(): number {
    return performance.now() - this.#openedMs;
  }

  /** Whether some host has committed here before. */
  get isSetUp(): boolean {
    return this.place.journal?.hasSegment === true || this.place.log !== null;
  }

  /** Whether to settle the frames. Never while the last one is perhaps unapplied. */
  get isSettleDue(): boolean {
    const { tail, touched } = this.memo;
    if (tail === null) return false;
    const { settleBytes, settleFrames, settleFiles } = journalLimits;
    const frames = tail.next - 1 - tail.settled;
    return tail.end >= settleBytes || frames >= settleFrames || touched.size >= settleFiles;
  }

  /** Whether it can serve another call: nothing is left to finish. */
  get isAtRest(): boolean {
    const { journal, setup } = this.place;
    if (journal?.hasSegment !== true || (journal.isRelaxed && setup.isFlushed)) return false;
    return this.memo.tail !== null;
  }

  /** Opens the journal, perhaps again. Puts it aside if it cannot be read. Must be called first. */
  begin(): void {
    const { home, memo, own, setup } = this.place;
    this.place.journal?.[Symbol.dispose]();
    Object.assign(this.place, { journal: null, log: null });
    try {
      this.place.journal = Journal.open(own, home, { known: memo.tail, boot: setup.boot });
      this.place.log = this.place.journal === null ? readOldLog(own, home) : null;
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
      setup.note(`${error.message}; it was put aside as ${putAsideDamaged(own, error)}`);
      memo.tail = null;
      // Of a journal, the segments before are left.
      if (error.segment !== null) this.begin();
    }
  }

  /** Does only what the journal says. */
  async recover(): Promise<void> {
    const { memo, own } = this.place;
    const isOwned = memo.ownedIdentity === own.identity;
    if (await settleRecords(own)) removeStaged(own);
    if (this.place.log !== null) {
      await openInJournal(own, this.place.home, this.place.log);
      this.begin();
    }
    const { journal } = this.place;
    if (journal?.isContinued !== true) memo.generation++;
    memo.lastPassing = Math.max(memo.lastPassing, journal?.lastPassing ?? 0);
    if (journal === null) {
      // Another process has erased the home that this one has known.
      memo.touched.clear();
      memo.tail = null;
      removeStaged(own);
      if (!isOwned && this.place.setup.isThorough) await this.#claimHome();
      return await this.#mend();
    }
    if (!isOwned) await this.#claimHome();
    if (!journal.isContinued) memo.touched.clear();
    for (const { files, seq } of journal.frames) for (const file of files) memo.touch(file, seq);
    this.history.takeOver(journal.isContinued ? memo.tail : null, journal.added);
    memo.settled(journal.tail.settled);
    // If the rest fails, all frames are read again: none is taken over twice.
    memo.tail = null;
    await this.#finish(journal);
    if (memo.isBroken) await this.#leaveSegment();
    memo.tail = journal.tail;
    this.history.keep();
    await this.#mend();
  }

  /** What an ordinary call can leave for later. */
  async #mend(): Promise<void> {
    if (!this.place.setup.isThorough) return;
    await this.history.load();
    await this.settling.settle(true).catch(passOverFull);
    await this.settling.sayWhatIsLost();
    if (this.place.journal?.hasSegment === true || !this.history.known.isBroken) return;
    // There is no journal that could say it.
    const journal = await this.#journalToWrite(null);
    journal.begin(this.history.head);
    await journal.flush();
    this.memo.tail = journal.tail;
    this.history.keep();
  }

  async #finish(journal: Journal): Promise<void> {
    const { own, setup } = this.place;
    const { boot, note } = setup;
    if (!needsRecovery(journal, boot)) {
      if (!journal.isAsKnown) for (const each of [own, journal.folder]) removeStaged(each);
      if (!journal.isContinued) removeEmpty(journal.folder);
      return;
    }
    using folders = this.place.walk();
    const head = (): VersionHead => this.history.head;
    await recover({
      own,
      folders,
      journal,
      boot,
      epochMs: Date.now(),
      note,
      head,
      distrust: () => journal.markDistrusted(),
    });
    this.memo.settled(journal.tail.settled);
  }

  /** Returns the sizes of scopes after the commit, as far as they were known before. */
  async commit(commit: EngineCommit, knownSizes: KnownSizes): Promise<KnownSizes> {
    if (this.memo.tail === null && this.isSetUp) {
      // The commit before could perhaps not be applied. Only the last frame is ever applied later.
      this.begin();
      await this.recover();
    }
    if (commit.kind === "purged") return sizesAfter(knownSizes, await this.#purge(commit));
    try {
      return sizesAfter(knownSizes, await this.#change(commit));
    } catch (error) {
      if (!isFullDisk(error) || !onlyRemovesRecords(commit)) throw error;
    }
    // A frame that has made one would make it again after a crash.
    await this.settling.settle(true).catch(passOverFull);
    this.place.check();
    const paths = commit.changes.map(({ path }) => path);
    await removeRecords(this.place.own, paths);
    return knownSizes;
  }

  async #change(commit: EngineCommit): Promise<readonly GrowingFile[]> {
    const change = await this.#record(commit);
    if (await inTurns(isEdited(change.folders, change.files))) await this.#takeBack(change);
    await this.#apply(change);
    this.place.checkCommitted();
    return change.files;
  }

  /** Plans the change, writes its new contents to staged files, and makes its frame durable. If that fails, nothing stays. */
  async #record({ home, by, changes, seen, facts, kind, lowered }: EngineCommit): Promise<RecordedChange> {
    const folders = this.place.scopes();
    try {
      const planned = await inTurns(planChanges(folders, changes, seen));
      const { versions, edited } = await this.history.plan({ facts, kind, planned, seen }, lowered, folders);
      const staged = await inTurns(stageFiles(this.place.own, folders, planned));
      const frame = await this.#frameOf(folders, staged.files, { stagedUs: staged.stagedUs });
      const contents = [...edited, ...frame.contents];
      const creator = home.kind === "store" ? by : null;
      await this.#write({ ...frame, versions: versions.map(({ line }) => line), contents }, creator);
      return { ...staged, creator, versions };
    } catch (error) {
      removeStagedQuietly(this.place.own);
      throw error;
    }
  }

  async #frameOf(
    folders: ScopeFolders,
    files: readonly ChangedFile[],
    { stagedUs, voids }: Pick<NewFrame["facts"], "stagedUs" | "voids">,
  ): Promise<NewFrame> {
    const named: NewFrame["facts"]["files"][number][] = [];
    const contents = new Map<string, HashedContent>();
    for (const file of files) {
      await giveTurn();
      const { scope, path, before, after } = file;
      const sha256 = (file as Partial<PlannedFile>).sha256 ?? digestOf(after);
      named.push({ scope, path, way: folders.inodesOnWay(scope, path), before, after: sha256 });
      if (sha256 !== null && after !== null) contents.set(sha256, { sha256, content: after });
    }
    const facts = { boot: this.place.setup.boot, stagedUs, files: named, voids };
    return { facts, versions: [], contents: [...contents.values()] };
  }

  /** Cancels the frame, of which nothing is applied: a second one says that all files are as they are now. Returns if it cannot be written. */
  async #takeBack(change: RecordedChange): Promise<void> {
    const { creator, folders, files } = change;
    this.memo.tail = null;
    const frame = await this.#frameOf(folders, asPresent(folders, files), { voids: true });
    try {
      // After a failed flush, another segment has begun.
      await this.#write(frame, creator).catch((error: unknown) => {
        if (!(error instanceof FrameUnflushable) || this.memo.isBroken) throw error;
        return this.#write(frame, creator);
      });
    } catch (error) {
      const { message } = failureOfDisk(error, "take it back");
      return this.place.setup.note(`a change is made although somebody has edited its files meanwhile (${message})`);
    }
    this.#touch(files);
    await this.#markApplied(change);
    this.memo.lastPassing = this.place.journal?.end.seq ?? 0;
    this.memo.tail = null;
    throw new StaleCall();
  }

  #touch(files: readonly ChangedFile[]): void {
    const seq = this.place.journal?.end.seq ?? 0;
    for (const file of files) this.memo.touch(file, seq);
  }

  /** Applies the recorded change. What cannot be applied now is applied by the next call. */
  async #apply(change: RecordedChange): Promise<void> {
    this.history.committed(change.versions);
    this.#touch(change.files);
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
  async #applyStaged(change: RecordedChange): Promise<void> {
    const left = await inTurns(applyStaged(change, this.place.setup.isFlushed));
    const { own, journal } = this.place;
    if (left.length === 0 || journal === null) return;
    const aside = { own, folders: change.folders, distrust: () => journal.markDistrusted(), epochMs: Date.now() };
    for (const text of await replaceEdited(aside, left)) this.place.setup.note(text);
  }

  async #markApplied({ folders, files }: RecordedChange): Promise<void> {
    this.place.journal?.markApplied(await inTurns(lastChangeUs(this.place.own, folders, files)));
    this.memo.tail = this.place.journal?.tail ?? null;
  }

  /** A purge has no frame: it must also work on a full disk, and if a crash leaves a file in the trash, nothing is lost. */
  async #purge({ changes, facts, derived }: EngineCommit): Promise<readonly GrowingFile[]> {
    // A frame that has put a file into the trash would put it there again after a crash.
    await this.settling.settle(true).catch(passOverFull);
    await this.settling.packOld().catch(passOverFull);
    this.place.check();
    // First, so that no crash leaves the contents of what nobody can purge any more. After the purge there is room.
    await this.history.forget(changes, derived).catch(passOverFull);
    const gone = await purgeFiles(changes, () => this.place.walk(), this.place.setup.isFlushed);
    await this.settling.settle(true).catch(passOverFull);
    await this.history.forget(changes, derived).catch(passOverFull);
    await this.#notePurge(await this.history.purged(gone, facts)).catch(passOverFull);
    return gone;
  }

  async #notePurge(versions: readonly PlannedVersion[]): Promise<void> {
    if (versions.length === 0 || this.place.journal === null) return;
    const facts = { boot: this.place.setup.boot, files: [] };
    await this.#write({ facts, versions: versions.map(({ line }) => line), contents: [] }, null);
    this.history.committed(versions);
    this.place.journal.markApplied(null);
    this.memo.tail = this.place.journal.tail;
  }

  /** Appends a frame, durably, the first one with everything that leads to it. `creator` is recorded if the home is a store. */
  async #write(frame: NewFrame, creator: UserId | null): Promise<void> {
    const { setup } = this.place;
    try {
      const journal = await this.#journalToWrite(creator);
      this.place.checkLock();
      await journal.append(frame, this.history.head, setup.isFlushed);
    } catch (error) {
      if (!(error instanceof FrameUnflushable)) throw error;
      await this.#leaveSegment().catch((failure: unknown) =>
        setup.note(`the journal could not be continued (${failureOfDisk(failure, "continue it").message})`),
      );
      throw error;
    }
  }

  /** Begins a segment after a frame whose flush has failed, durably: after a crash, the refused frame could be found otherwise. */
  async #leaveSegment(): Promise<void> {
    Object.assign(this.memo, { isBroken: true, tail: null });
    this.place.journal?.begin(this.history.head);
    await this.place.journal?.flush();
    this.memo.isBroken = false;
  }

  async #journalToWrite(creator: UserId | null): Promise<Journal> {
    const { home, own, setup } = this.place;
    const mark = markOf(this.history.known);
    const journal = (this.place.journal ??= Journal.make(own, home, { next: 1, mark }));
    if (!journal.hasSegment || (setup.isFlushed && journal.isRelaxed)) await this.#setUp(creator);
    else await this.#claim(creator);
    await this.settling.sayWhatIsLost();
    return journal;
  }

  async #setUp(creator: UserId | null): Promise<void> {
    const { home, memo, own, setup, folder } = this.place;
    await claimOwner(own, home);
    // The home is perhaps a new one in the place of one that is remembered.
    memo.seenCreator = null;
    await this.#claim(creator);
    if (setup.isFlushed) await settleAll([folder.flush(), flushJournalEnd(own)]);
  }

  /** Records whose home it is, durably, without a journal. */
  async #claimHome(): Promise<void> {
    await claimOwner(this.place.own, this.place.home);
    if (this.place.setup.isFlushed) await this.place.folder.flush();
  }

  async #claim(creator: UserId | null): Promise<void> {
    const { home, memo, own } = this.place;
    if (creator === null || creator === memo.seenCreator) return;
    await claimCreator(own, home, creator);
    memo.seenCreator = creator;
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
