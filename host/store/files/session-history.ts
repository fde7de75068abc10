/** The history of a home: what its present files come from, and the versions that a change adds. */
import { failureOfDisk } from "../../disk/disk-failure.ts";
import { placeKey } from "../../values/change-set.ts";
import type { ChangeSet, Place, Seen } from "../../values/change-set.ts";
import { agree } from "../../values/clock-reading.ts";
import { orInstead } from "../../values/tool-error.ts";
import { atOnce, giveTurn, inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { DerivedFiles } from "../engine.ts";
import { isOfEntries } from "../home.ts";
import { StaleCall } from "../plan-changes.ts";
import type { GrowingFile } from "../reading.ts";
import { digestOf } from "../reading.ts";
import { agedBefore, agedContents, contentsOfPurged, isAgingDue } from "../versions/old-contents.ts";
import { chained, loweringAfter, planAsking, planVersions } from "../versions/plan-versions.ts";
import type { VersionGround, VersionedChange } from "../versions/plan-versions.ts";
import { PresentOrigins } from "../versions/present-origins.ts";
import type { LoweredRun } from "../versions/present-origins.ts";
import { lostTrust, parseLine } from "../versions/version.ts";
import type { PlannedVersion, Version, VersionHead, VersionedFile, WriteFacts } from "../versions/version.ts";
import { removeStaged } from "./commit/apply-files.ts";
import type { HomeMemo } from "./home-memo.ts";
import { hostFolder } from "./home.ts";
import type { HomeKind } from "./home.ts";
import type { HashedContent } from "./journal/format.ts";
import { HistoryFiles, loadHistory, openHistory, takeOver } from "./journal/history.ts";
import type { HistorySource, KnownHistory } from "./journal/history.ts";
import type { Journal } from "./journal/journal.ts";
import { writePresent } from "./journal/present.ts";
import { dropContents, dropSegments, forgetContents, segmentsToDrop } from "./journal/prune.ts";
import { isSameTail } from "./journal/read-journal.ts";
import type { AddedFrame, JournalTail } from "./journal/read-journal.ts";
import { HomeFolder } from "./scope-folders.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import type { SessionPlace } from "./session-place.ts";

/** What is asked of the history of a home that is held. */
export interface ToldHistory {
  readonly known: KnownHistory;
  readonly versions: () => Promise<Version[]>;
  readonly contentsOf: (hashes: Iterable<string>) => Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Of a home that is read without a session. `tail`: the state in which it is read; `null` if that is not known. */
export function historyOnDisk(memo: HomeMemo, tail: JournalTail | null): ToldHistory {
  const { home } = memo;
  function* look<Result>(work: (from: HistorySource | null) => Pieces<Result>): Pieces<Result> {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    if (own === null) return yield* work(null);
    const read = openHistory(own, home);
    using _journal = read.journal;
    return yield* work({ own, home, ...read });
  }
  function* load(from: HistorySource | null): Pieces<KnownHistory> {
    if (from === null) return nothingKnown();
    const known = yield* loadHistory(from);
    if (tail && from.journal && isSameTail(from.journal.tail, tail)) memo.keepHistory(tail, known, false);
    return known;
  }
  return {
    known: (tail && memo.historyAt(tail)) ?? atOnce(look(load)),
    versions: () => inTurns(look((from) => inFiles(from, (files) => files.versions(), []))),
    contentsOf: (hashes) => inTurns(look((from) => inFiles(from, (files) => files.contentsOf(hashes), new Map()))),
  };
}

const nothingKnown = (): KnownHistory => ({
  origins: new PresentOrigins(),
  unknown: "owner_edit",
  isBroken: false,
  unwritten: 0,
  aged: null,
});

function* inFiles<Result>(
  from: HistorySource | null,
  work: (files: HistoryFiles) => Pieces<Result>,
  instead: Result,
): Pieces<Result> {
  if (from === null) return instead;
  using files = new HistoryFiles(from.own, from);
  return yield* work(files);
}

/** The versions that a change adds, and the contents of files that somebody has edited before. */
export interface PlannedVersions {
  readonly versions: PlannedVersion[];
  readonly edited: readonly HashedContent[];
}

/** Of a home that is held in a session. */
export class SessionHistory implements ToldHistory {
  readonly #place: SessionPlace;
  readonly #memo: HomeMemo;
  #known: KnownHistory | null = null;

  constructor(place: SessionPlace) {
    this.#place = place;
    this.#memo = place.memo;
  }

  get known(): KnownHistory {
    return this.#known ?? atOnce(this.#find());
  }

  get head(): VersionHead {
    return this.known.origins.head;
  }

  /** Reads the history in turns. Otherwise whoever asks first reads it at once. */
  async load(): Promise<void> {
    // Whoever needs it gets the failure.
    if (this.#known === null) await inTurns(this.#find()).catch(() => {});
  }

  *#find(): Pieces<KnownHistory> {
    const tail = this.#place.journal?.tail;
    const known = (tail && this.#memo.historyAt(tail, true)) ?? (yield* this.#read());
    this.#known = known;
    this.keep();
    return known;
  }

  /** Takes over what other processes have added since the journal was remembered: `before`. */
  takeOver(before: JournalTail | null, frames: readonly AddedFrame[]): void {
    const known = before && this.#memo.historyAt(before, true);
    this.#known = known && takeOver(known, frames) ? known : null;
    if (known !== null && this.#known === null) this.#memo.forgetHistory();
    this.keep();
  }

  /** The versions that a change adds. Throws `StaleCall` if a file that somebody has edited is being edited. */
  async plan(change: VersionedChange, lowered: readonly LoweredRun[], folders: ScopeFolders): Promise<PlannedVersions> {
    const { known } = this;
    const place = { kind: this.#place.home.kind, folders };
    const planned = await planAsking(
      (all) => inTurns(planChangeVersions({ ...known, versions: all }, change, place)),
      () => this.versions(),
    );
    for (const each of lowered) {
      const head = planned.versions.at(-1)?.head ?? known.origins.head;
      planned.versions.push(...loweringAfter(head, each, this.#place.home.owner));
    }
    return planned;
  }

  /** The frame of a change is durable, and counts. */
  committed(versions: readonly PlannedVersion[]): void {
    for (const { version, head } of versions) {
      this.known.origins.add(version, head);
      if (version.kind !== "put back") continue;
      const paths = version.files.map(({ path }) => path).join(", ");
      this.#place.setup.note(`somebody has put files back to an earlier state: ${paths}`);
    }
    this.known.unwritten += versions.length;
    this.keep();
  }

  /** What is known is so at the journal's present end. */
  keep(): void {
    const tail = this.#place.journal?.tail;
    if (tail !== undefined && this.#known !== null) this.#memo.keepHistory(tail, this.#known, true);
  }

  /** Files are about to be removed from the trash for good: so are their contents in the history. */
  async forget(changes: ChangeSet, derived: DerivedFiles = new Map()): Promise<void> {
    const { known } = this;
    const { home, journal } = this.#place;
    const gone = changes.filter(({ scope }) => isOfEntries(home.kind, scope));
    if (journal === null || known.origins.head.seq === 0) return;
    using folders = this.#place.walk();
    // Somebody has perhaps put them there by hand, from where a version knows them.
    const hashes = await hashesOf(gone, folders);
    const purged = contentsOfPurged(await this.versions(), { gone, hashes, derived }, known.origins);
    await this.#forget(journal, purged);
  }

  async #forget(journal: Journal, hashes: ReadonlySet<string>): Promise<void> {
    if (hashes.size === 0) return;
    // First it must be on the disk that the frames are settled: one that is not does not count without its contents.
    await journal.flush();
    removeStaged(journal.folder);
    await forgetContents(journal.source, hashes, journal.tail.settled);
  }

  /** The version that says that files were removed from the trash for good. */
  async purged(gone: readonly GrowingFile[], facts: WriteFacts): Promise<PlannedVersion[]> {
    const { origins } = this.known;
    const files = gone.flatMap(({ scope, path }): VersionedFile[] => {
      const known = origins.of(scope, path);
      return known === null ? [] : [{ scope, path, before: known.sha256, sha256: null, trust: known.trust }];
    });
    return await inTurns(chained(origins.head, [{ facts, kind: "purged", files }]));
  }

  /**
   * Removes what a history need not keep: contents that are old or too much, and versions that are too many. All frames are settled. What
   * fails here is left to a later time. `isAtRest`: no call waits for the flush of what spares the next process the reading of all versions.
   */
  async tidyUp(isAtRest: boolean): Promise<void> {
    const { journal, setup } = this.#place;
    if (journal === null) return;
    try {
      using files = new HistoryFiles(this.#place.own, { journal });
      const hasLooked = await this.#forgetOld(journal, files);
      const segments = files.segments?.all ?? [];
      dropContents(journal.folder, segments, setup.settings.history.bytesMax);
      const { unwritten, origins } = this.known;
      const dropped = segmentsToDrop(journal.folder, segments);
      const isDue = isAtRest && unwritten >= Math.max(unwrittenMax, origins.size / 2);
      if (!hasLooked && !isDue && dropped.length === 0) return;
      await this.writePresent(journal);
      dropSegments(journal.folder, dropped);
    } catch (error) {
      setup.note(`the history could not be tidied up (${failureOfDisk(error, "prune it").message})`);
    }
  }

  /** Says where the files come from that dropped versions have left. Durable. */
  async writePresent(journal: Journal): Promise<void> {
    await writePresent(journal.folder, { ...this.known, segment: journal.tail.first });
    await journal.folder.flush();
    this.known.unwritten = 0;
  }

  /**
   * Forgets the contents that no file has had for too many days: by the time of the last look, on which this one agrees.
   * Returns whether it has looked.
   */
  async #forgetOld(journal: Journal, files: HistoryFiles): Promise<boolean> {
    const { clock, history } = this.#place.setup.settings;
    const { known } = this;
    const [last, now] = [known.aged, clock()];
    if (!isAgingDue(last?.atMs ?? 0, now)) return false;
    if (known.origins.head.seq === 0) return false;
    const [oldest = ""] = known.oldestMs === undefined ? files.versionLines() : [];
    known.oldestMs ??= parseLine(oldest)?.atMs ?? 0;
    if (known.oldestMs >= agedBefore({ ...history, nowMs: now })) return false;
    const { agreedMs, noted } = agree(last, now);
    known.aged = noted;
    const bound = { daysMax: history.daysMax, nowMs: agreedMs };
    using folders = this.#place.walk();
    const isThere = (scope: string, path: string): boolean => isFileIn(folders, scope, path);
    const aged = agedContents(await inTurns(files.versions()), known.origins, { ...bound, isThere });
    await this.#forget(journal, aged);
    return noted !== last;
  }

  *#read(): Pieces<KnownHistory> {
    const { own, home, journal, log, setup } = this.#place;
    const loaded = yield* loadHistory({ own, home, journal, log });
    const { head } = loaded.origins;
    const last = this.#memo.lastOrigins;
    const isOlder = last !== null && isBefore(head, last.head) && !this.#hasBegunAnew(loaded.origins, last);
    if (isOlder) setup.note(`the history was put back to version ${head.seq}, after version ${last.head.seq}`);
    const isBroken = loaded.isBroken || isOlder;
    if (isBroken && journal?.mark !== "lost") setup.note("versions of the history are missing or were changed");
    return { ...loaded, isBroken, unknown: isBroken ? lostTrust : loaded.unknown };
  }

  /**
   * Whether another process has erased the home that this one has known: nothing is in it, or its first version is younger
   * than the last one was. An older copy has only versions that were made before.
   */
  #hasBegunAnew(found: PresentOrigins, known: PresentOrigins): boolean {
    if (found.head.seq === 0) return this.#place.folder.home.entries().every(({ name }) => name === hostFolder);
    return found.firstMs !== null && known.lastMs !== null && found.firstMs > known.lastMs;
  }

  async versions(): Promise<Version[]> {
    return await inTurns(inFiles(this.#place, (files) => files.versions(), []));
  }

  async contentsOf(hashes: Iterable<string>): Promise<ReadonlyMap<string, Uint8Array>> {
    return await inTurns(inFiles(this.#place, (files) => files.contentsOf(hashes), new Map<string, Uint8Array>()));
  }
}

/** After so many versions, at least, the present files' origins are written anew. */
const unwrittenMax = 512;

/** `true` also of what cannot be looked at. */
const isFileIn = (folders: ScopeFolders, scope: string, path: string): boolean =>
  orInstead(() => {
    const place = folders.find(scope, path);
    return place !== null && place.folder.measure(place.name) !== null;
  }, true);

const isBefore = (head: VersionHead, known: VersionHead): boolean =>
  head.seq < known.seq || (head.seq === known.seq && head.hash !== known.hash);

/** How many bytes of files are read to find their contents in the history. */
const hashedBytesMax = 64 * 1024 * 1024;

/** The hashes of files, as far as they can be read and are not too many bytes together. */
async function hashesOf(files: ChangeSet, folders: ScopeFolders): Promise<string[]> {
  const hashes: string[] = [];
  let bytes = 0;
  for (const { scope, path } of files) {
    await giveTurn();
    const content = readOrNull(folders, scope, path);
    hashes.push(digestOf(content) ?? "");
    bytes += content?.length ?? 0;
    if (bytes > hashedBytesMax) break;
  }
  return hashes;
}

const readOrNull = (folders: ScopeFolders, scope: string, path: string): Buffer | null =>
  orInstead(() => folders.read(scope, path), null);

/** Whether somebody has made the version's files by hand. */
const isByHand = ({ kind }: Version): boolean => kind === "edited" || kind === "put back";

function* planChangeVersions(
  ground: VersionGround,
  change: VersionedChange,
  { kind, folders }: { readonly kind: HomeKind; readonly folders: ScopeFolders },
): Pieces<PlannedVersions> {
  const isEntry = ({ scope }: Place): boolean => isOfEntries(kind, scope);
  const planned = change.planned.filter(isEntry);
  const changed = new Set(planned.map(placeKey));
  const isChanged = (file: Seen): boolean => changed.has(placeKey(file));
  const entries = change.seen.filter(isEntry);
  const onlyRead = entries.filter((file) => !isChanged(file));
  const seen = [...entries.filter(isChanged), ...(yield* editedAmong(onlyRead, ground, folders))];
  const versions = yield* planVersions(ground, { ...change, planned, seen });
  const edited: HashedContent[] = [];
  for (const { version } of versions) {
    yield;
    if (!isByHand(version)) continue;
    for (const file of version.files) {
      if (file.sha256 === null) continue;
      edited.push({ sha256: file.sha256, content: editedContent(folders, file, file.sha256) });
    }
  }
  return { versions, edited };
}

function editedContent(folders: ScopeFolders, { scope, path }: Place, sha256: string): Buffer {
  const content = folders.read(scope, path);
  if (content === null || digestOf(content) !== sha256) throw new StaleCall();
  return content;
}

/** Of files that a change only reads, so many edits by hand become versions with it, and so many bytes of contents. */
const [readEditsMax, readEditsBytesMax] = [64, 1024 * 1024];

/** The files that somebody has edited before they were read. Of many or large ones, some are found later. */
function* editedAmong(seen: readonly Seen[], { origins }: VersionGround, folders: ScopeFolders): Pieces<Seen[]> {
  const edited: Seen[] = [];
  let bytes = 0;
  for (const file of seen) {
    yield;
    if (file.digest === (origins.of(file.scope, file.path)?.sha256 ?? null)) continue;
    const content = readOrNull(folders, file.scope, file.path);
    // Somebody has edited it since.
    if (digestOf(content) !== file.digest) continue;
    bytes += content?.length ?? 0;
    if (bytes > readEditsBytesMax || edited.length >= readEditsMax) break;
    edited.push(file);
  }
  return edited;
}
