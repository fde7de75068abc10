/** The history of a home for whoever holds it: what its present files come from, and the versions that a change adds. */
import type { Directory } from "../../disk/directory.ts";
import { failureOfDisk } from "../../disk/disk-failure.ts";
import type { ChangeSet } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { atOnce, inTurns, giveTurn } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { DerivedFiles } from "../engine.ts";
import { isOfEntries } from "../home.ts";
import { digestOf } from "../reading.ts";
import type { GrowingFile } from "../scope-size.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { LoweredRun } from "../versions/lowered-runs.ts";
import { chained, loweringAfter } from "../versions/plan-versions.ts";
import type { VersionedChange } from "../versions/plan-versions.ts";
import type { PresentOrigins } from "../versions/present-origins.ts";
import { contentsOfPurged } from "../versions/purged-contents.ts";
import { lostTrust } from "../versions/version.ts";
import type { Version, VersionedFile, VersionHead, WriteFacts } from "../versions/version.ts";
import { planChangeVersions, contentIn } from "./change-versions.ts";
import type { ChangeVersions } from "./change-versions.ts";
import type { WalRecord } from "./commit/wal-format.ts";
import { ContentBases } from "./history/content-bases.ts";
import { HistoryFolder, putHistoryAside } from "./history/history-folder.ts";
import type { KnownHistory } from "./history/load-history.ts";
import { historyEnd, isFullSegment, loadHistory } from "./history/load-history.ts";
import { moveVersions } from "./history/move-versions.ts";
import type { MovedVersions } from "./history/move-versions.ts";
import { writePresent } from "./history/present-file.ts";
import { forgetContents, pruneByAge, pruneToBytes, pruneVersions } from "./history/prune-history.ts";
import { queuedVersions, versionsInRecords } from "./history/queued-versions.ts";
import type { QueuedVersions } from "./history/queued-versions.ts";
import { contentsOf, versionsIn } from "./history/read-history.ts";
import { hostFolder } from "./home.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import type { SessionPlace } from "./session-place.ts";
import type { SessionSetup } from "./session-setup.ts";
import type { SessionWal } from "./session-wal.ts";

export class SessionHistory {
  readonly #setup: SessionSetup;
  readonly #place: SessionPlace;
  readonly #log: SessionWal;
  #known: KnownHistory | null = null;

  constructor(setup: SessionSetup, place: SessionPlace, log: SessionWal) {
    this.#setup = setup;
    this.#place = place;
    this.#log = log;
  }

  get known(): KnownHistory {
    return this.#known ?? atOnce(this.#find());
  }

  /** Reads the history in turns. Otherwise whoever asks first reads it at once. */
  async load(): Promise<void> {
    // Whoever needs it gets the failure.
    if (this.#known === null) await inTurns(this.#find()).catch(() => {});
  }

  *#find(): Pieces<KnownHistory> {
    const tail = this.#log.present?.tail;
    const known = (tail && this.#setup.histories.of(this.#setup.home, tail)) ?? (yield* this.#load());
    this.#known = known;
    this.#keep();
    return known;
  }

  /** Takes over the versions of records that other processes have left in the WAL. */
  async takeOver(records: readonly WalRecord[]): Promise<void> {
    this.#known = null;
    this.#setup.memo.versions.push(...(await inTurns(versionsInRecords(records, new ContentBases()))));
  }

  /** Throws `StaleCall` if a file that somebody has edited is being edited. */
  async plan(change: VersionedChange, lowered: readonly LoweredRun[], folders: ScopeFolders): Promise<ChangeVersions> {
    const planned = await this.#plan(change, folders);
    const versions = [...planned.versions];
    for (const each of lowered) {
      const head = versions.at(-1)?.head ?? this.known.origins.head;
      versions.push(...loweringAfter(head, each, this.#setup.home.owner));
    }
    return { ...planned, versions };
  }

  async #plan(change: VersionedChange, folders: ScopeFolders): Promise<ChangeVersions> {
    this.#noteEnd();
    const planWith = (versions: () => readonly Version[]): Promise<ChangeVersions> =>
      inTurns(planChangeVersions({ ...this.known, versions }, change, { kind: this.#setup.home.kind, folders }));
    let isAsked = false;
    const first = await planWith(() => {
      isAsked = true;
      return [];
    });
    if (!isAsked) return first;
    const all = await this.versions();
    return await planWith(() => all);
  }

  /** The record of a change is durable. */
  async recorded({ versions, edited, written }: ChangeVersions): Promise<void> {
    const queued = await inTurns(queuedVersions(versions, [...edited, ...written], this.known.bases));
    this.#setup.memo.versions.push(...queued);
  }

  /** The change counts. */
  committed({ versions }: ChangeVersions): void {
    const { origins } = this.known;
    for (const { version, head } of versions) {
      if (version.kind === "put back") this.#setup.note(putBackNote(version.files));
      origins.add(version, head);
      this.known.unwritten++;
    }
    this.#keep();
  }

  /** The last record does not count. */
  takeBack({ versions }: ChangeVersions): void {
    if (versions.length > 0) this.#setup.memo.versions.pop();
    // The next content must not be told from one that is not kept.
    this.#known?.bases.clear();
    this.#known = null;
  }

  /** Moves the versions of the WAL to the history, before the WAL drops them. */
  async move(): Promise<void> {
    const { memo } = this.#setup;
    const { known } = this;
    if (memo.versions.length > 0) {
      await this.#append(memo.versions);
      memo.versions.length = 0;
      await this.#tidyUp(known);
    }
    this.#noteEnd();
  }

  /** The next checkpoint of the WAL says how the history ends, if all versions are in it. */
  #noteEnd(): void {
    const wal = this.#log.present;
    if (wal !== null && this.#setup.memo.versions.length === 0) wal.history = historyEnd(this.known);
  }

  async #append(queued: readonly QueuedVersions[]): Promise<void> {
    const { known } = this;
    const { own } = this.#place;
    const append = (): Promise<MovedVersions> => {
      const place = { isNew: known.startsSegment, end: known.end };
      known.end = null;
      return moveVersions(own, queued, place);
    };
    const { isFull, hasContents, end } = await append().catch((error: unknown) => {
      this.#putAside(error);
      return append();
    });
    Object.assign(known, { startsSegment: isFull, end });
    if (isFull || !hasContents) known.bases.clear();
  }

  /** What fails here is left to a later time: the versions have been moved. */
  async #tidyUp(known: KnownHistory): Promise<void> {
    const { note, settings } = this.#setup;
    try {
      using folders = this.#place.walk();
      await tidyHistory({ own: this.#place.own, folders }, known, settings);
    } catch (error) {
      note(`the history could not be tidied up (${failureOfDisk(error, "prune it").message})`);
    }
  }

  /** Files are about to be removed from the trash for good: so are their contents in the history. */
  async forget(changes: ChangeSet, derived: DerivedFiles = new Map()): Promise<void> {
    const { known } = this;
    const { memo, home } = this.#setup;
    const gone = changes.filter(({ scope }) => isOfEntries(home.kind, scope));
    using folders = this.#place.walk();
    // Somebody has put them there by hand, and perhaps from where a version knows them.
    const unknown = gone.filter(({ scope, path }) => known.origins.of(scope, path) === null);
    const hashes = known.origins.head.seq === 0 ? [] : await hashesOf(unknown, folders);
    const purged = contentsOfPurged(await this.versions(), { gone, hashes, derived }, known.origins);
    using history = HistoryFolder.open(this.#place.own);
    if (history !== null) await forgetContents(history, purged);
    // Those of the WAL are in its records, and go with them.
    const left = memo.versions.map(({ first, lines }) => ({ first, lines, contents: [] }));
    memo.versions.splice(0, left.length, ...left);
    known.bases.clear();
  }

  /**
   * Files were removed from the trash for good. If the WAL is retired, that is a version, and the WAL's salt changes
   * before it is written: there is no record, so other processes must not go on from what they know.
   */
  async purged(gone: readonly GrowingFile[], facts: WriteFacts): Promise<void> {
    const wal = this.#log.present;
    if (wal === null || !wal.isSetUp || !wal.isEmpty || this.#setup.memo.versions.length > 0) return;
    await wal.checkpoint();
    wal.shrink();
    this.#setup.memo.tail = wal.tail;
    const { origins } = this.known;
    const files = gone.flatMap(({ scope, path }): VersionedFile[] => {
      const known = origins.of(scope, path);
      return known === null ? [] : [{ scope, path, before: known.sha256, sha256: null, trust: known.trust }];
    });
    const versions = await inTurns(chained(origins.head, [{ facts, kind: "purged", files }]));
    if (versions.length > 0) await this.#append(await inTurns(queuedVersions(versions, [], this.known.bases)));
    for (const { version, head } of versions) origins.add(version, head);
    this.#keep();
  }

  /** The WAL has dropped its records: the history is the same. */
  retired(): void {
    if (this.#known !== null) this.#keep();
  }

  #keep(): void {
    const tail = this.#log.present?.tail;
    if (tail !== undefined) this.#setup.histories.keep(this.#setup.home, tail, this.known);
  }

  *#load(): Pieces<KnownHistory> {
    try {
      return yield* this.#read();
    } catch (error) {
      this.#putAside(error);
      return yield* this.#read();
    }
  }

  /** A history that cannot be used is put aside. Throws any other error. */
  #putAside(error: unknown): void {
    if (!(error instanceof ToolError) || error.code !== "STORAGE_UNSAFE") throw error;
    this.#setup.note(`${error.message}; it was put aside as ${putHistoryAside(this.#place.own)}`);
  }

  *#read(): Pieces<KnownHistory> {
    const { home, memo, note, histories } = this.#setup;
    using history = HistoryFolder.open(this.#place.own);
    const loaded = yield* loadHistory({ history, wal: this.#log.present, queued: memo.versions });
    const { head } = loaded.origins;
    const last = histories.last(home);
    const isOlder = last !== null && isBefore(head, last.head) && !this.#hasBegunAnew(loaded.origins, last);
    if (isOlder) note(`the history was put back to version ${head.seq}, after version ${last.head.seq}`);
    const isBroken = loaded.isBroken || isOlder;
    if (isBroken && history?.hasLost !== true) {
      note("versions of the history are missing or were changed");
      using own = HistoryFolder.make(this.#place.own);
      own.markLost();
    }
    const startsSegment = history !== null && isFullSegment(history, history.segments("versions").at(-1) ?? 0);
    const unknown = isBroken ? lostTrust : loaded.unknown;
    return { ...loaded, isBroken, unknown, bases: new ContentBases(), startsSegment, end: null };
  }

  /**
   * Whether another process has erased the home that this one has known: nothing is in it, or its first version is younger
   * than the last one was. An older copy has only versions that were made before.
   */
  #hasBegunAnew(found: PresentOrigins, known: PresentOrigins): boolean {
    if (found.head.seq === 0) return this.#place.folder.home.entries().every(({ name }) => name === hostFolder);
    return found.firstMs !== null && known.lastMs !== null && found.firstMs > known.lastMs;
  }

  /** All versions, the oldest first. */
  async versions(): Promise<Version[]> {
    using history = HistoryFolder.open(this.#place.own);
    return await inTurns(versionsIn({ history, queued: this.#setup.memo.versions }));
  }

  /** Contents by their hashes, without those that are not kept. */
  async contentsOf(hashes: Iterable<string>): Promise<Map<string, Uint8Array>> {
    using history = HistoryFolder.open(this.#place.own);
    return await inTurns(contentsOf({ history, queued: this.#setup.memo.versions }, hashes));
  }
}

const isBefore = (head: VersionHead, known: VersionHead): boolean =>
  head.seq < known.seq || (head.seq === known.seq && head.hash !== known.hash);

const putBackNote = (files: readonly { readonly path: string }[]): string =>
  `somebody has put files back to an earlier state: ${files.map(({ path }) => path).join(", ")}`;

/** How many bytes of files are read to find their contents in the history. */
const hashedBytesMax = 64 * 1024 * 1024;

/** The hashes of files, as far as they can be read and are not too many bytes together. */
async function hashesOf(files: ChangeSet, folders: ScopeFolders): Promise<string[]> {
  const hashes: string[] = [];
  let bytes = 0;
  for (const { scope, path } of files) {
    await giveTurn();
    const content = contentIn(folders, scope, path);
    hashes.push(digestOf(content) ?? "");
    bytes += content?.length ?? 0;
    if (bytes > hashedBytesMax) break;
  }
  return hashes;
}

/** After so many versions, at least, the present files' origins are written anew. */
const unwrittenMax = 512;

/** Removes what a history need not keep, after versions have been moved to it. */
async function tidyHistory(
  { own, folders }: { readonly own: Directory; readonly folders: ScopeFolders },
  known: KnownHistory,
  { history: limits, clock }: StoreSettings,
): Promise<void> {
  using history = HistoryFolder.make(own);
  const { origins } = known;
  const isThere = (scope: string, path: string): boolean => isFileIn(folders, scope, path);
  // The next content must not be told from one that is gone.
  if (await pruneByAge(history, { ...limits, nowMs: clock(), origins, isThere })) known.bases.clear();
  pruneToBytes(history, limits);
  if (!known.startsSegment && known.unwritten < Math.max(unwrittenMax, origins.size / 2)) return;
  await writePresent(history, origins);
  await history.folder.flush();
  known.unwritten = 0;
  pruneVersions(history);
}

/** `true` also of what cannot be looked at. */
function isFileIn(folders: ScopeFolders, scope: string, path: string): boolean {
  try {
    const place = folders.find(scope, path);
    return place !== null && place.folder.measure(place.name) !== null;
  } catch (error) {
    if (error instanceof ToolError) return true;
    throw error;
  }
}
