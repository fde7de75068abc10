/** The homes of a hold, as files: reads and commits them, in their sessions as far as they have some. */
import { storeLimits } from "../../../shared/limits.ts";
import type { Directory } from "../../disk/directory.ts";
import type { Change } from "../../values/change-set.ts";
import type { StoreId } from "../../values/ids.ts";
import type { StoreGrant } from "../../values/store-grant.ts";
import { ToolError, orInstead } from "../../values/tool-error.ts";
import type {
  EngineCommit,
  EngineHome,
  EngineHomes,
  ErasableContent,
  ErasedUser,
  NewGrants,
  StagedRecord,
} from "../engine.ts";
import { isLive } from "../grant-hints.ts";
import type { HomeDump } from "../home-dump.ts";
import { hostScope, keyOf, recordPath } from "../home.ts";
import type { HoldOptions, Home, RecordKind } from "../home.ts";
import { StaleCall } from "../plan-changes.ts";
import type { Files, HandedHome, KnownSizes, ScopeSize, StoreFinding } from "../reading.ts";
import { toldBy } from "../versions/present-origins.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import { dumpHome } from "./dump-home.ts";
import { contentsOf } from "./erase-homes.ts";
import { examineHome } from "./examine.ts";
import { FileReader } from "./file-reader.ts";
import { hasStore } from "./found-homes.ts";
import type { GrantedHints } from "./granted-hints.ts";
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";
import type { Homes } from "./homes.ts";
import { areStill, hasCommits } from "./journal-version.ts";
import type { Versions } from "./journal-version.ts";
import { isSameTail } from "./journal/read-journal.ts";
import type { JournalTail } from "./journal/read-journal.ts";
import { loadHome } from "./load-home.ts";
import { orDispose } from "./open-session.ts";
import { readRecord, recordSizes } from "./record-files.ts";
import { HomeFolder } from "./scope-folders.ts";
import { historyOnDisk } from "./session-history.ts";
import type { ToldHistory } from "./session-history.ts";
import { readSizes, writeSizes } from "./stored-sizes.ts";

/** How one home is held. */
export interface HeldPart {
  readonly home: FileHome;
  /** Set by the first commit if there is none. */
  session: HomeSession | null;
  /** Instead of a session, where nothing is to be finished. */
  readonly lock?: Disposable | null;
  /** Without a session: the state in which the home is read; absent if that is not known. */
  readonly tail?: JournalTail | null | undefined;
  /** Without a lock, somebody else can erase the user meanwhile. Whether nobody has. Default: yes. */
  readonly isStill?: () => boolean;
}

/** What all homes of a hold have in common. */
export interface HeldTogether {
  readonly homes: Homes;
  readonly hints: GrantedHints;
  readonly options: HoldOptions;
  /** Whether the work may commit. */
  readonly writes: boolean;
  /** The versions of homes that a writing work only reads. */
  readonly read: Versions;
  readonly erase?: (erasedMs: number) => Promise<ErasedUser>;
}

export class HeldFiles implements EngineHomes {
  readonly isAtomic = false;
  readonly #parts: readonly HeldPart[];
  readonly #hold: HeldTogether;
  readonly #held: ReadonlyMap<string, HeldFileHome>;

  constructor(parts: readonly HeldPart[], hold: HeldTogether) {
    this.#parts = parts;
    this.#hold = hold;
    // Whoever waits with several locks can wait for ever.
    const waits = parts.length === 1;
    this.#held = new Map(parts.map((part) => [part.home.key, new HeldFileHome(part, hold, waits)]));
  }

  of(home: Home): HeldFileHome {
    const held = this.#held.get(keyOf(home));
    if (held === undefined) throw new RangeError("The home is not held");
    return held;
  }

  /** Of stores, and of several other homes, threads open each themselves. */
  get handed(): HandedHome | null {
    const [home, ...others] = this.#parts.filter((part) => part.home.kind !== "store");
    return others.length === 0 ? (home?.session?.place.handed ?? null) : null;
  }

  /** Also of those that were read without a lock. */
  areReadStill(): boolean {
    return !this.#parts.some(isGone) && (this.#hold.read.size === 0 || areStill(this.#hold.read));
  }

  async commit(parts: readonly EngineCommit[], done: (home: Home) => void): Promise<void> {
    // A store that had no lock when the hold began can have been made since.
    const isNew = ({ home, session }: HeldPart): boolean =>
      home.kind === "store" && session === null && !this.#hold.read.has(home.key) && hasCommits(home);
    for (const part of parts) {
      if (this.#parts.some(isNew)) throw new StaleCall();
      await this.of(part.home).commit(part);
      done(part.home);
    }
  }

  async load(home: Home, dump: HomeDump, grants: () => readonly StoreGrant[]): Promise<boolean> {
    return await this.of(home).load(dump, grants);
  }

  async erase(erasedMs: number): Promise<ErasedUser> {
    if (this.#hold.erase === undefined) throw new RangeError("Nothing is held to be erased");
    return await this.#hold.erase(erasedMs);
  }
}

const isGone = ({ session, isStill }: HeldPart): boolean => session === null && isStill?.() === false;

class HeldFileHome implements EngineHome {
  readonly #part: HeldPart;
  readonly #hold: HeldTogether;
  /** Whether the first commit waits for others who make the home as well. */
  readonly #waits: boolean;
  readonly #told: () => ToldHistory;
  readonly history: HeldHistory;
  readonly knownSizes: KnownSizes;
  #latestSizes: KnownSizes;

  constructor(part: HeldPart, hold: HeldTogether, waits: boolean) {
    const { home, session } = part;
    this.#part = part;
    this.#hold = hold;
    this.#waits = waits && home.kind !== "store";
    this.#told = toldHistory(part, hold.homes);
    this.history = heldHistory(this.#told);
    this.knownSizes = session !== null && hold.writes ? usableSizes(session) : {};
    this.#latestSizes = this.knownSizes;
  }

  has(): boolean {
    const { home } = this.#part;
    if (home.kind === "store") return hasStore(home);
    using folder = HomeFolder.open(home);
    return folder !== null;
  }

  open(): Files {
    return new FileReader(this.#part.home);
  }

  async recordSizes(kind: RecordKind): Promise<ReadonlyMap<string, number>> {
    const store = storeIn(this.#part.home);
    if (store === null) return this.#inOwn((own) => recordSizes(own, kind));
    return new Map(this.#hold.hints.leftBy(store).map((each) => [each, 0]));
  }

  async readRecord(kind: RecordKind, name: string): Promise<string | null> {
    return this.#inOwn((own) => readRecord(own, kind, name));
  }

  findings(): Promise<StoreFinding[]> {
    const { home } = this.#part;
    const { boot } = this.#hold.homes;
    return examineHome(home, { boot, known: this.#hold.homes.tailOf(home) });
  }

  contents(): Promise<ErasableContent[]> {
    return contentsOf(this.#part.home);
  }

  async dump(): Promise<HomeDump | null> {
    return dumpHome(this.#part.home, this.#told().known);
  }

  async load(dump: HomeDump, grants: () => readonly StoreGrant[]): Promise<boolean> {
    const { homes, hints } = this.#hold;
    const store = storeIn(this.#part.home);
    const nowMs = Date.now();
    // As with a commit: a grant without a hint is not found.
    const beforeNamed = async (): Promise<void> => {
      for (const each of grants()) if (store && isLive(each, nowMs)) await hints.add(store, each, nowMs);
    };
    return await loadHome(this.#part.home, dump, { isFlushed: homes.isFlushed, beforeNamed });
  }

  async commit(asked: EngineCommit): Promise<void> {
    const { homes, hints } = this.#hold;
    const store = storeIn(this.#part.home);
    // Those of a store are not files.
    if (store) await hints.note(store, asked.records);
    const commit = store ? asked : { ...asked, changes: [...asked.changes, ...asked.records.map(recordChange)] };
    if (commit.changes.length + commit.lowered.length === 0) return;
    const { grants, knownSizes = this.#latestSizes } = commit;
    const session = (this.#part.session ??= await this.#openFirst());
    // Before the commit: a hint without a grant does no harm, but a grant without a hint is not found.
    if (store && grants) for (const each of grants.granted) await hints.add(store, each, grants.nowMs);
    this.#latestSizes = await session.commit(commit, knownSizes);
    homes.noteCommit(session);
    noteSizes(session, this.#latestSizes, this.knownSizes, commit.kind === "purged");
    if (store && grants) this.#forgetHints(store, grants);
  }

  /**
   * After the commit: of grants that are gone, or that others have replaced. What fails here is left, since the change has
   * been made: a hint without a grant does no harm.
   */
  #forgetHints(store: StoreId, { granted, revoked = [] }: NewGrants): void {
    const { hints } = this.#hold;
    orInstead(() => {
      for (const each of granted) hints.remove(store, each.grantee, each);
      for (const principal of revoked) hints.remove(store, principal, null);
    }, undefined);
  }

  /** Makes the home's folder and lock. Throws `StaleCall` if someone else was faster. */
  async #openFirst(): Promise<HomeSession> {
    const { homes, options } = this.#hold;
    const { home } = this.#part;
    {
      using folder = await HomeFolder.make(home);
      folder.makeOwn();
    }
    const { until, signal } = this.#waits ? options : { until: performance.now() };
    const waiting = { until, signal, make: true, readOnlyWillDo: false };
    const session = await homes.lock(home, waiting).catch((error: unknown) => {
      const isTaken = !this.#waits && error instanceof ToolError && error.code === "BUSY";
      throw isTaken ? new StaleCall() : error;
    });
    if (session === null || session.isSetUp) {
      session?.[Symbol.dispose]();
      throw new StaleCall();
    }
    await orDispose(session, () => session.recover());
    return session;
  }

  /** Looks into the host's own folder; `null` if there is none. */
  #inOwn<Result>(look: (own: Directory | null) => Result): Result {
    const { home, session } = this.#part;
    if (session !== null) return look(session.place.own);
    using folder = HomeFolder.open(home);
    return look(folder?.openOwn() ?? null);
  }
}

/** The id of a store's home; else `null`. */
const storeIn = (home: FileHome): StoreId | null => (home.kind === "store" ? home.id : null);

const recordChange = ({ kind, name, text }: StagedRecord): Change => {
  const at = { scope: hostScope, path: recordPath(kind, name) };
  return text === null ? { kind: "remove", ...at } : { kind: "write", ...at, content: text };
};

/** The history of a home: as its session knows it, or as the disk has it if there is none. */
function toldHistory(part: HeldPart, homes: Homes): () => ToldHistory {
  let onDisk: ToldHistory | null = null;
  return () => part.session?.history ?? (onDisk ??= historyOnDisk(homes.memoOf(part.home), part.tail ?? null));
}

const heldHistory = (told: () => ToldHistory): HeldHistory => ({
  ...toldBy(() => told().known),
  versions: async () => (await told().versions()).filter(({ files }) => files.length > 0),
  contentsOf: async (hashes) => told().contentsOf(hashes),
});

/** What need not be measured of a home that is open. */
function usableSizes({ memo, place }: HomeSession): KnownSizes {
  const { tail, sizes } = memo;
  if (tail === null) return {};
  // Another process can have left them beside the journal since.
  if (sizes === null || !isSameTail(sizes.tail, tail) || Object.keys(sizes.known).length === 0) {
    const known = readSizes(place.own, tail);
    memo.sizes = { tail, known, measuredAt: performance.now() };
    return known;
  }
  return performance.now() - sizes.measuredAt > ageMsMax ? mapSizes(sizes.known, trashOnly) : sizes.known;
}

/** Notes the sizes after a commit. `given`: those that the commit's call was given. */
function noteSizes({ memo, place }: HomeSession, sizes: KnownSizes, given: KnownSizes, isPurge: boolean): void {
  const { tail, sizes: before } = memo;
  memo.sizes = null;
  if (tail === null) return;
  if (isPurge) writeSizes(place.own, tail, sizes);
  const known = mapSizes(sizes, (size) => (isFull(size) ? trashOnly(size) : size));
  // If one of them was known, all are as old as that one.
  const isOld = before !== null && Object.keys(known).some((scope) => known[scope]?.live && given[scope]?.live);
  memo.sizes = { tail, known, measuredAt: isOld ? before.measuredAt : performance.now() };
}

/**
 * How long a live size is used. A file that a person has made larger by hand is noticed after this at the latest, or at
 * once if the scope is more than half full. The size of a trash does not age: the trash can have many more files. Before a
 * call is refused because of it, it is measured again, so it does no harm if a person has emptied the trash by hand.
 */
const ageMsMax = 60_000;

const mapSizes = (sizes: KnownSizes, change: (size: Partial<ScopeSize>) => Partial<ScopeSize>): KnownSizes =>
  Object.fromEntries(Object.entries(sizes).map(([scope, size]) => [scope, change(size)]));

const trashOnly = ({ trash }: Partial<ScopeSize>): Partial<ScopeSize> => (trash ? { trash } : {});

const isFull = ({ live, trash }: Partial<ScopeSize>): boolean =>
  (live?.bytes ?? 0) + (trash?.bytes ?? 0) > storeLimits.scopeBytesMax / 2;
