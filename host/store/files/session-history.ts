/** The history of a home: what its present files come from, and the versions that a change adds. */
import { failureOfDisk } from "../../disk/disk-failure.ts";
import { placeKey } from "../../values/change-set.ts";
import type { ChangeSet, Place, Seen } from "../../values/change-set.ts";
import { ToolError, orInstead } from "../../values/tool-error.ts";
import { atOnce, giveTurn, inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { DerivedFiles } from "../engine.ts";
import { isOfEntries } from "../home.ts";
import { StaleCall } from "../plan-changes.ts";
import type { GrowingFile } from "../reading.ts";
import { digestOf } from "../reading.ts";
import { contentsOfPurged } from "../versions/old-contents.ts";
import { chained, loweringAfter, planAsking, planVersions } from "../versions/plan-versions.ts";
import type { VersionGround, VersionedChange } from "../versions/plan-versions.ts";
import type { LoweredRun, PresentOrigins } from "../versions/present-origins.ts";
import { lostTrust } from "../versions/version.ts";
import type { PlannedVersion, Version, VersionHead, VersionedFile, WriteFacts } from "../versions/version.ts";
import { inFlushes } from "./commit/flushing.ts";
import { isSameTail, versionsInRecords, writtenBy } from "./commit/wal-format.ts";
import type { WalRecord, WalTail, WrittenVersion } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-line.ts";
import { HistoryFolder, putHistoryAside } from "./history/history-folder.ts";
import { contentsOf, historyEnd, loadHistory, versionsIn } from "./history/known-history.ts";
import type { CheckedHistory, KnownHistory, WholeHistory } from "./history/known-history.ts";
import { moveVersions } from "./history/move-versions.ts";
import { forgetContents, tidyHistory } from "./history/prune-history.ts";
import { hostFolder } from "./home.ts";
import type { HomeKind } from "./home.ts";
import { HomeFolder } from "./scope-folders.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import { isChecked } from "./session-place.ts";
import type { HomeMemo, SessionPlace } from "./session-place.ts";

export interface HistorySource {
  readonly known: KnownHistory;
  readonly versions: () => Promise<Version[]>;
  readonly contentsOf: (hashes: Iterable<string>) => Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Of a home that is read without a session. `tail`: the state in which it is read; `null` if that is not known. */
export function historyOnDisk(memo: HomeMemo, tail: WalTail | null): HistorySource {
  const { home } = memo;
  function* look<Result>(work: (whole: WholeHistory, wal: Wal | null) => Pieces<Result>): Pieces<Result> {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using history = own && HistoryFolder.open(own);
    using wal = own && Wal.open(own, home, { isRead: true });
    return yield* work({ history, queued: yield* versionsInRecords(wal?.records ?? []) }, wal);
  }
  function* load(whole: WholeHistory, wal: Wal | null): Pieces<KnownHistory> {
    const known = yield* loadHistory(whole, wal);
    if (tail && wal && isSameTail(wal.tail, tail)) memo.keepHistory(tail, known);
    return known;
  }
  return {
    known: (tail && memo.historyAt(tail)) ?? atOnce(look(load)),
    versions: () => inTurns(look(versionsIn)),
    contentsOf: (hashes) => inTurns(look((whole) => contentsOf(whole, hashes))),
  };
}

/** Of a home that is held in a session. */
export class SessionHistory implements HistorySource {
  readonly #place: SessionPlace;
  readonly #memo: HomeMemo;
  #known: CheckedHistory | null = null;

  constructor(place: SessionPlace) {
    this.#place = place;
    this.#memo = place.memo;
  }

  get known(): CheckedHistory {
    return this.#known ?? atOnce(this.#find());
  }

  /** Reads the history in turns. Otherwise whoever asks first reads it at once. */
  async load(): Promise<void> {
    // Whoever needs it gets the failure.
    if (this.#known === null) await inTurns(this.#find()).catch(() => {});
  }

  *#find(): Pieces<CheckedHistory> {
    const tail = this.#place.wal?.tail;
    const kept = tail ? this.#memo.historyAt(tail) : null;
    const known = kept !== null && isChecked(kept) ? kept : yield* this.#load();
    this.#known = known;
    this.#keep();
    return known;
  }

  /** Takes over the versions of records that other processes have left in the WAL. */
  async takeOver(records: readonly WalRecord[]): Promise<void> {
    this.#known = null;
    this.#memo.versions.push(...(await inTurns(versionsInRecords(records))));
  }

  /** The versions that a change adds. Throws `StaleCall` if a file that somebody has edited is being edited. */
  async plan(
    change: VersionedChange,
    lowered: readonly LoweredRun[],
    folders: ScopeFolders,
  ): Promise<readonly WrittenVersion[]> {
    this.#noteEnd();
    const { known } = this;
    const place = { kind: this.#place.home.kind, folders };
    const versions = await planAsking(
      (all) => inTurns(planChangeVersions({ ...known, versions: all }, change, place)),
      () => this.versions(),
    );
    for (const each of lowered) {
      const head = versions.at(-1)?.head ?? known.origins.head;
      for (const lowering of loweringAfter(head, each, this.#place.home.owner)) {
        versions.push({ ...lowering, contents: [] });
      }
    }
    return versions;
  }

  /** The record of a change is durable, and counts. */
  committed(versions: readonly WrittenVersion[]): void {
    for (const { version } of versions) {
      if (version.kind !== "put back") continue;
      const paths = version.files.map(({ path }) => path).join(", ");
      this.#place.setup.note(`somebody has put files back to an earlier state: ${paths}`);
    }
    this.#memo.versions.push(...versions);
    this.#add(versions);
    this.known.unwritten += versions.length;
  }

  #add(versions: readonly PlannedVersion[]): void {
    for (const { version, head } of versions) this.known.origins.add(version, head);
    this.#keep();
  }

  /** Moves the versions of the WAL to the history, before the WAL drops them. */
  async move(): Promise<void> {
    const memo = this.#memo;
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
    const wal = this.#place.wal;
    if (wal !== null && this.#memo.versions.length === 0) wal.history = historyEnd(this.known);
  }

  async #append(queued: readonly WrittenVersion[]): Promise<void> {
    const append = (): Promise<void> => inFlushes(moveVersions(this.#place.own, queued, this.known.bases));
    await append().catch((error: unknown) => {
      this.#putAside(error);
      return append();
    });
  }

  /** What fails here is left to a later time: the versions have been moved. */
  async #tidyUp(known: CheckedHistory): Promise<void> {
    const { note, settings } = this.#place.setup;
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
    const { memo, home } = this.#place;
    const gone = changes.filter(({ scope }) => isOfEntries(home.kind, scope));
    using folders = this.#place.walk();
    // Somebody has put them there by hand, and perhaps from where a version knows them.
    const unknown = gone.filter(({ scope, path }) => known.origins.of(scope, path) === null);
    const hashes = known.origins.head.seq === 0 ? [] : await hashesOf(unknown, folders);
    const purged = contentsOfPurged(await this.versions(), { gone, hashes, derived }, known.origins);
    using history = HistoryFolder.open(this.#place.own);
    if (history !== null) await forgetContents(history, purged);
    // Those of the WAL are in its records, and go with them.
    for (const [at, each] of memo.versions.entries()) memo.versions[at] = { ...each, contents: [] };
    known.bases.clear();
  }

  /**
   * Files were removed from the trash for good. If the WAL is retired, that is a version, and the WAL's salt changes
   * before it is written: there is no record, so other processes must not go on from what they know.
   */
  async purged(gone: readonly GrowingFile[], facts: WriteFacts): Promise<void> {
    const wal = this.#place.wal;
    if (wal === null || !wal.isSetUp || !wal.isEmpty || this.#memo.versions.length > 0) return;
    await wal.checkpoint();
    wal.shrink();
    this.#memo.tail = wal.tail;
    const { origins } = this.known;
    const files = gone.flatMap(({ scope, path }): VersionedFile[] => {
      const known = origins.of(scope, path);
      return known === null ? [] : [{ scope, path, before: known.sha256, sha256: null, trust: known.trust }];
    });
    const versions = await inTurns(chained(origins.head, [{ facts, kind: "purged", files }]));
    if (versions.length === 0) return this.#keep();
    await this.#append(versions.map((each) => ({ ...each, contents: [] })));
    this.#add(versions);
  }

  /** The WAL has dropped its records: the history is the same. */
  retired(): void {
    if (this.#known !== null) this.#keep();
  }

  #keep(): void {
    const tail = this.#place.wal?.tail;
    if (tail !== undefined) this.#memo.keepHistory(tail, this.known);
  }

  *#load(): Pieces<CheckedHistory> {
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
    this.#place.setup.note(`${error.message}; it was put aside as ${putHistoryAside(this.#place.own)}`);
  }

  *#read(): Pieces<CheckedHistory> {
    const { memo, setup } = this.#place;
    using history = HistoryFolder.open(this.#place.own);
    const loaded = yield* loadHistory({ history, queued: memo.versions }, this.#place.wal);
    const { head } = loaded.origins;
    const last = memo.lastOrigins;
    const isOlder = last !== null && isBefore(head, last.head) && !this.#hasBegunAnew(loaded.origins, last);
    if (isOlder) setup.note(`the history was put back to version ${head.seq}, after version ${last.head.seq}`);
    const isBroken = loaded.isBroken || isOlder;
    if (isBroken && history?.hasLost !== true) {
      setup.note("versions of the history are missing or were changed");
      using own = HistoryFolder.make(this.#place.own);
      own.markLost();
    }
    const unknown = isBroken ? lostTrust : loaded.unknown;
    return { ...loaded, isBroken, unknown, bases: new ContentBases() };
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
    using history = HistoryFolder.open(this.#place.own);
    return await inTurns(versionsIn({ history, queued: this.#memo.versions }));
  }

  async contentsOf(hashes: Iterable<string>): Promise<Map<string, Uint8Array>> {
    using history = HistoryFolder.open(this.#place.own);
    return await inTurns(contentsOf({ history, queued: this.#memo.versions }, hashes));
  }
}

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

/** What a change's record in the WAL has of its versions. */
export function recordedVersions(versions: readonly WrittenVersion[]): Pick<WalRecord, "versions" | "edited"> {
  const edited = versions.flatMap(({ version, contents }) => (isByHand(version) ? contents : []));
  return {
    ...(versions.length > 0 && { versions: versions.map(({ line }) => line) }),
    ...(edited.length > 0 && { edited: edited.map(({ content }) => content) }),
  };
}

function* planChangeVersions(
  ground: VersionGround,
  change: VersionedChange,
  { kind, folders }: { readonly kind: HomeKind; readonly folders: ScopeFolders },
): Pieces<WrittenVersion[]> {
  const isEntry = ({ scope }: Place): boolean => isOfEntries(kind, scope);
  const planned = change.planned.filter(isEntry);
  const contents = new Map(planned.map((file) => [placeKey(file), file.after]));
  const isChanged = (file: Seen): boolean => contents.has(placeKey(file));
  const entries = change.seen.filter(isEntry);
  const onlyRead = entries.filter((file) => !isChanged(file));
  const seen = [...entries.filter(isChanged), ...(yield* editedAmong(onlyRead, ground, folders))];
  const versions = yield* planVersions(ground, { ...change, planned, seen });
  const withContents: WrittenVersion[] = [];
  for (const each of versions) {
    yield;
    const find = isByHand(each.version)
      ? (file: Place, sha256: string): Buffer => editedContent(folders, file, sha256)
      : (file: Place): Buffer | null => contents.get(placeKey(file)) ?? null;
    withContents.push({ ...each, contents: writtenBy(each.version, find) });
  }
  return withContents;
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
