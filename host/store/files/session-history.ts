/** The history of a home for whoever holds it: what its present files come from, and the versions that a change adds. */
import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { StaleCall } from "../plan-changes.ts";
import type { PlannedFile } from "../plan-changes.ts";
import { digestOf } from "../reading.ts";
import type { GrowingFile } from "../scope-size.ts";
import { chained, planVersions } from "../versions/plan-versions.ts";
import type { PlannedVersion, VersionedChange } from "../versions/plan-versions.ts";
import { placeKey } from "../versions/present-origins.ts";
import { contentsOfPurged } from "../versions/purged-contents.ts";
import type { Version, VersionedFile, WriteFacts } from "../versions/version.ts";
import type { WalRecord } from "./commit/wal-format.ts";
import { ContentBases } from "./history/content-bases.ts";
import type { WrittenContent } from "./history/content-bases.ts";
import { forgetContents } from "./history/forget-contents.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import type { KnownHistory } from "./history/known-history.ts";
import { isFullSegment, loadHistory } from "./history/load-history.ts";
import { moveVersions } from "./history/move-versions.ts";
import { writePresent } from "./history/present-file.ts";
import { pruneContents, pruneVersions } from "./history/prune-history.ts";
import { queuedVersions, versionsInRecords } from "./history/queued-versions.ts";
import { contentOf, versionsIn } from "./history/read-history.ts";
import { isOfEntries } from "./home.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import type { SessionPlace } from "./session-place.ts";
import type { SessionSetup } from "./session-setup.ts";
import type { SessionWal } from "./session-wal.ts";

/** After so many versions, at least, the present files' origins are written anew. */
const unwrittenMax = 512;

/** The versions of a change, and the contents that they name. */
export interface ChangeVersions {
  readonly versions: readonly PlannedVersion[];
  /** Contents of files that somebody has edited before the change. */
  readonly edited: readonly WrittenContent[];
  readonly written: readonly WrittenContent[];
}

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
    if (this.#known !== null) return this.#known;
    const tail = this.#log.present?.tail;
    this.#known = (tail && this.#setup.histories.of(tail)) ?? this.#load();
    this.#keep();
    return this.#known;
  }

  /** Takes over the versions of records that other processes have left in the WAL. */
  takeOver(records: readonly WalRecord[]): void {
    this.#known = null;
    this.#setup.memo.versions.push(...versionsInRecords(records, new ContentBases()));
  }

  /** Throws `StaleCall` if a file that somebody has edited is being edited. */
  plan(change: VersionedChange, folders: ScopeFolders): ChangeVersions {
    const { kind } = this.#setup.home;
    const planned = change.planned.filter((file) => isOfEntries(kind, file));
    const changed = new Set(planned.map(placeKey));
    // Of a file that is only read, what has changed since is found later.
    const seen = change.seen.filter(
      (file) => isOfEntries(kind, file) && (changed.has(placeKey(file)) || this.#isEdited(file, folders)),
    );
    const { origins, unknown } = this.known;
    const versions = planVersions({ origins, unknown, versions: () => this.versions() }, { ...change, planned, seen });
    const edited = versions.flatMap((each) => editedBy(each, folders));
    return { versions, edited, written: versions.flatMap((each) => writtenBy(each, planned)) };
  }

  /** The record of a change is durable. */
  recorded({ versions, edited, written }: ChangeVersions): void {
    if (versions.length === 0) return;
    const queued = queuedVersions(versions, [...edited, ...written], this.known.bases);
    this.#setup.memo.versions.push(queued);
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
    const { memo, historyLimits } = this.#setup;
    if (memo.versions.length === 0) return;
    const { known } = this;
    const isFull = await moveVersions(this.#place.own, memo.versions, known.startsSegment);
    known.startsSegment = isFull;
    if (isFull) known.bases.clear();
    memo.versions.length = 0;
    using history = HistoryFolder.make(this.#place.own);
    pruneContents(history, historyLimits, Date.now());
    if (known.unwritten < Math.max(unwrittenMax, known.origins.size / 2)) return;
    await writePresent(history, known.origins);
    await history.folder.flush();
    known.unwritten = 0;
    pruneVersions(history);
  }

  /** Files were removed from the trash for good. The WAL has no versions. */
  async purged(gone: readonly GrowingFile[], facts: WriteFacts): Promise<void> {
    const { known } = this;
    const { origins } = known;
    using history = HistoryFolder.make(this.#place.own);
    forgetContents(history, contentsOfPurged(this.versions(), gone, origins));
    known.bases.clear();
    const files = gone.map(({ scope, path }): VersionedFile => {
      const { sha256 = null, trust = known.unknown } = origins.of(scope, path) ?? {};
      return { scope, path, before: sha256, sha256: null, trust };
    });
    const versions = chained(origins.head, [{ facts, kind: "purged", files }]);
    if (versions.length === 0) return;
    await moveVersions(this.#place.own, [{ versions, contents: [] }], known.startsSegment);
    for (const { version, head } of versions) origins.add(version, head);
    this.#keep();
  }

  /**
   * Clears what is left in the WAL of the files that were purged. The history has changed without a record, so its salt
   * changes too: other processes must not go on from what they know.
   */
  async endPurge(): Promise<void> {
    await this.#log.present?.checkpoint();
    this.#log.present?.shrink();
    this.#setup.memo.tail = this.#log.present?.tail ?? null;
    this.retired();
  }

  /** The WAL has dropped its records: the history is the same. */
  retired(): void {
    if (this.#known !== null) this.#keep();
  }

  #keep(): void {
    const tail = this.#log.present?.tail;
    if (tail !== undefined) this.#setup.histories.keep(tail, this.known);
  }

  #load(): KnownHistory {
    const { memo, note } = this.#setup;
    using history = HistoryFolder.open(this.#place.own);
    const queued = memo.versions.flatMap(({ versions }) => versions);
    const loaded = loadHistory({ history, wal: this.#log.present, queued });
    if (loaded.isBroken) note("versions of the history are missing or were changed");
    const { head } = loaded.origins;
    const last = this.#setup.histories.lastHead;
    const isOlder = last !== null && (head.seq < last.seq || (head.seq === last.seq && head.hash !== last.hash));
    if (isOlder) note(`the history was put back to version ${head.seq}, after version ${last.seq}`);
    const startsSegment = history !== null && isFullSegment(history, history.segments("versions").at(-1) ?? 0);
    return { ...loaded, bases: new ContentBases(), startsSegment };
  }

  /** Whether somebody has edited a file before it was read, and nobody since. */
  #isEdited({ scope, path, digest }: Seen, folders: ScopeFolders): boolean {
    const known = this.known.origins.of(scope, path)?.sha256 ?? null;
    if (digest === known) return false;
    try {
      return digestOf(folders.read(scope, path)) === digest;
    } catch (error) {
      if (error instanceof ToolError) return false;
      throw error;
    }
  }

  /** All versions, the oldest first. */
  versions(): Version[] {
    using history = HistoryFolder.open(this.#place.own);
    return versionsIn({ history, queued: this.#setup.memo.versions });
  }

  /** A content by its hash; `null` if it is not kept. */
  contentOf(sha256: string): Uint8Array | null {
    using history = HistoryFolder.open(this.#place.own);
    return contentOf({ history, queued: this.#setup.memo.versions }, sha256);
  }
}

function editedBy({ version }: PlannedVersion, folders: ScopeFolders): WrittenContent[] {
  if (version.kind !== "edited" && version.kind !== "put back") return [];
  return version.files.flatMap(({ scope, path, sha256 }) => {
    if (sha256 === null) return [];
    const content = folders.read(scope, path);
    if (content === null || digestOf(content) !== sha256) throw new StaleCall();
    return [{ key: placeKey({ scope, path }), sha256, content }];
  });
}

/** The new contents. What was moved is there already. */
function writtenBy({ version }: PlannedVersion, planned: readonly PlannedFile[]): WrittenContent[] {
  if (version.kind === "edited" || version.kind === "put back") return [];
  const contents = new Map(planned.map((file) => [placeKey(file), file.after]));
  return version.files.flatMap(({ scope, path, sha256, from }) => {
    const key = placeKey({ scope, path });
    const content = contents.get(key) ?? null;
    return sha256 === null || from !== undefined || content === null ? [] : [{ key, sha256, content }];
  });
}

const putBackNote = (files: readonly { readonly path: string }[]): string =>
  `somebody has put files back to an earlier state: ${files.map(({ path }) => path).join(", ")}`;
