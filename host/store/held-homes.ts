/** The homes that work holds: checks what the work asks, names scopes as the work does, and keeps the readers. */
import { storePrefix } from "../../shared/shared-scope.ts";
import { isPurge } from "../values/change-set.ts";
import type { Change, ChangeSet, Seen } from "../values/change-set.ts";
import { scopeOfStore } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import type {
  DerivedFiles,
  EngineCommit,
  EngineHome,
  EngineHomes,
  ErasableContent,
  ErasedUser,
  NewGrants,
} from "./engine.ts";
import type { Handed } from "./handed.ts";
import { HeldReads } from "./held-reads.ts";
import type { HeldReader, StoreFinding } from "./holding.ts";
import { commits, entriesScope, grantsPath, grantsScope, hostScope, keyOf } from "./home.ts";
import type { Home, HoldOptions, Mode } from "./home.ts";
import { HostRecords } from "./host-records.ts";
import { StaleCall } from "./plan-changes.ts";
import { noSuchScope } from "./reading.ts";
import type { KnownSizes } from "./scope-size.ts";
import type { HeldHistory } from "./versions/held-history.ts";
import { renamedHistory } from "./versions/renamed-history.ts";
import { unstatedFacts } from "./versions/version.ts";
import type { VersionKind, WriteFacts } from "./versions/version.ts";

/** What is changed in one home. What is staged in its records is changed with it. */
export interface HomeCommit {
  readonly changes: ChangeSet;
  /** The files that the changes are based on; those of other homes do not count. What was read of grants is added. */
  readonly seen: readonly Seen[];
  /** Who makes the change. Default: the host itself. A store records its owner. */
  readonly by?: UserId | null | undefined;
  /** The sizes that were measured. Default: those that are still known. */
  readonly knownSizes?: KnownSizes | undefined;
  /** What the history says of it. Default: nobody has told anything. */
  readonly facts?: WriteFacts | undefined;
  readonly kind?: VersionKind | undefined;
  /** Of a purge: the files that plugins make from others. */
  readonly derived?: DerivedFiles | undefined;
  readonly grants?: NewGrants | undefined;
}

export type CommitOfHome = readonly [home: Home, commit: HomeCommit];

interface Hold {
  readonly mode: Mode;
  readonly options: HoldOptions;
}

/** Must not be used after the work has ended. Throws a `RangeError` for homes that are not held. */
export class HeldHomes implements Disposable {
  readonly #homes: ReadonlyMap<string, Home>;
  readonly #hold: Hold;
  readonly #engine: EngineHomes;
  readonly #parts = new Map<string, HeldPart>();
  #isEnded = false;
  #hasCommitted = false;

  constructor(homes: readonly Home[], hold: Hold, engine: EngineHomes) {
    this.#homes = new Map(homes.map((home) => [keyOf(home), home]));
    this.#hold = hold;
    this.#engine = engine;
  }

  /** Throws `StaleCall` if someone has changed a home meanwhile that is only read, and nothing was committed. */
  async run<Result>(work: (held: HeldHomes) => Promise<Result>): Promise<Result> {
    const result = await work(this);
    if (!this.#hasCommitted) await this.#refuseStale();
    return result;
  }

  /** One of them. A store's entries are in the scope that `home` names. */
  of(home: Home): HeldHome {
    this.partOf(home);
    return new HeldHome(home, this);
  }

  has(home: Home): boolean {
    return this.#homes.has(keyOf(home));
  }

  /** What a thread's readers need not find again meanwhile; `null` if there is nothing. */
  get handed(): Handed | null {
    return this.#engine.handed;
  }

  /** Whether `commitEach` makes all changes or none. */
  get isAtomic(): boolean {
    return this.#engine.isAtomic;
  }

  /** From now on the work's result counts, whatever changes of what it has only read. */
  keepResult(): void {
    this.#hasCommitted = true;
  }

  /**
   * Makes changes of several homes visible and durable, one home after the other. `done` is called for each that is. If one
   * fails after that, those after it are not made either, and the work is not repeated.
   */
  async commitEach(asked: readonly CommitOfHome[], done: (home: Home) => void = () => {}): Promise<void> {
    const parts = asked.map(([home, commit]) => this.#inside(home, commit));
    const wanted = parts.filter(({ changes, lowered }) => changes.length + lowered.length > 0);
    if (wanted.length === 0) return;
    for (const { home } of wanted) this.#checkCommits(home);
    if (new Set(wanted.map(({ home }) => keyOf(home))).size < wanted.length)
      throw new RangeError("A home is named twice");
    if (!this.#hasCommitted) await this.#refuseStale();
    try {
      await this.#engine.commit(wanted, (home) => {
        // What the host has noted about the user is not undone by another attempt.
        this.#hasCommitted ||= wanted.some((part) => keyOf(part.home) === keyOf(home) && changesFiles(part));
        done(home);
      });
    } catch (error) {
      // Work is repeated only as long as nothing of it is durable.
      throw this.#hasCommitted && error instanceof StaleCall
        ? new ToolError("BUSY", error.message, { cause: error })
        : error;
    }
    for (const { reader } of this.#parts.values()) reader.forget();
  }

  /**
   * In mode `erase`: takes everything away, all of it or nothing, durably: from then on the user has nothing, and later
   * calls begin anew. Must be the last thing that the work does. What is taken away is removed later, by `Store.erased`.
   * `erasedMs`: the time of the erasure, on the clock of grants.
   */
  async erase(erasedMs: number): Promise<ErasedUser> {
    if (this.#hold.mode !== "erase")
      throw new RangeError(`Cannot erase: the homes are held in mode ${this.#hold.mode}`);
    return await this.#engine.erase(erasedMs);
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    for (const { reader } of this.#parts.values()) reader.end();
  }

  /** Throws a `RangeError` if the home is not held, or no more. */
  partOf(home: Home): HeldPart {
    const key = keyOf(home);
    if (this.#isEnded || !this.#homes.has(key)) throw new RangeError("The home is not held");
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const engine = this.#engine.of(home);
    const reader = new HeldReads(() => engine.open(), { unlisted: home.kind === "store" ? grantsScope : hostScope });
    const records = new HostRecords(engine, () => this.commitEach([[home, { changes: [], seen: [] }]]));
    const part = { engine, reader, records };
    this.#parts.set(key, part);
    return part;
  }

  /** The changes with the scopes inside the home, and with those of its records. */
  #inside(home: Home, commit: HomeCommit): EngineCommit {
    const { reader, records } = this.partOf(home);
    const { grants, knownSizes } = commit;
    const staged = records.take();
    const changes = changesInside(home, commit.changes);
    const isLast = changes.length > 0 && !grants && isPurge(changes);
    if (isLast && staged.changes.length + staged.lowered.length > 0) throw new RangeError("A purge changes no record");
    return {
      home,
      by: commit.by ?? null,
      changes: [...changes, ...(grants ? [writtenGrants(grants)] : []), ...staged.changes],
      seen: seenInside(home, commit.seen, reader.seen),
      facts: commit.facts ?? unstatedFacts(Date.now()),
      kind: isLast ? "purged" : commit.kind,
      isPurge: isLast,
      derived: derivedInside(home, commit.derived),
      knownSizes: knownSizes && renamedSizes(knownSizes, outerScope(home), entriesScope),
      lowered: staged.lowered,
      grants,
    };
  }

  #checkCommits(home: Home): void {
    const { mode, options } = this.#hold;
    const isOnlyRead = options.onlyRead?.some((each) => keyOf(each) === keyOf(home)) === true;
    if (commits(mode) && !isOnlyRead) return;
    throw new RangeError("Cannot commit: the home is held for reading only");
  }

  async #refuseStale(): Promise<void> {
    if (!(await this.#engine.areReadStill())) throw new StaleCall();
  }
}

interface HeldPart {
  readonly engine: EngineHome;
  readonly reader: HeldReads;
  readonly records: HostRecords;
}

/** One home, as whoever holds it names its scopes. */
export class HeldHome {
  readonly home: Home;
  readonly #all: HeldHomes;

  constructor(home: Home, all: HeldHomes) {
    this.home = home;
    this.#all = all;
  }

  get #part(): HeldPart {
    return this.#all.partOf(this.home);
  }

  /** Whether anything was committed to it, or somebody has put files into it by hand. */
  get isThere(): boolean {
    return this.#part.engine.has();
  }

  /** Its files, without what the host keeps. */
  get reader(): HeldReader {
    const { reader } = this.#part;
    return this.home.kind === "store" ? new StoreReads(this.home, this) : reader;
  }

  /** The reader with the scopes inside the home. */
  get inside(): HeldReads {
    return this.#part.reader;
  }

  /** The versions of its files. */
  get history(): HeldHistory {
    const { history } = this.#part.engine;
    return this.home.kind === "store" ? renamedHistory(history, entriesScope, this.home.scope) : history;
  }

  /** What is still known of the sizes of its scopes. */
  get knownSizes(): KnownSizes {
    return renamedSizes(this.#part.engine.knownSizes, entriesScope, outerScope(this.home));
  }

  /** Of a user's home: what the host keeps. */
  get records(): HostRecords {
    if (this.home.kind !== "user") throw new RangeError("Only a user's home has records");
    return this.#part.records;
  }

  /** The bytes of a store's file with grants; `null` if there is none. */
  async grants(): Promise<Uint8Array | null> {
    return await this.#part.reader.bytesOf(grantsScope, grantsPath);
  }

  /** The problems that can be found without parsing the files. */
  async findings(): Promise<StoreFinding[]> {
    const found = await this.#part.engine.findings();
    const { home } = this;
    return home.kind === "store" ? found.map((each) => ({ ...each, path: shownPath(home, each.path) })) : found;
  }

  /** What there is, also what no tool can read. In modes `erase` and `look`. */
  async contents(): Promise<ErasableContent[]> {
    const found = await this.#part.engine.contents();
    const { home } = this;
    if (home.kind !== "store") return found;
    return found.map(({ scope, ...sum }) => Object.assign(sum, { scope: scope === entriesScope ? home.scope : null }));
  }

  /** Makes a change set visible and durable, all of it or nothing. Makes the home if it is not there. */
  async commit(commit: HomeCommit): Promise<void> {
    await this.#all.commitEach([[this.home, commit]]);
  }
}

/** The host's own reads of a store's entries. */
class StoreReads implements HeldReader {
  readonly #home: Home & { readonly kind: "store" };
  readonly #held: HeldHome;

  constructor(home: Home & { readonly kind: "store" }, held: HeldHome) {
    this.#home = home;
    this.#held = held;
  }

  get seen(): readonly Seen[] {
    const { scope } = this.#home;
    const ofEntries = this.#held.inside.seen.filter((each) => each.scope === entriesScope);
    return ofEntries.map(({ path, digest }) => ({ scope, path, digest }));
  }

  async scopes(): Promise<string[]> {
    return this.#held.isThere ? [this.#home.scope] : [];
  }

  async beside(): ReturnType<HeldReader["beside"]> {
    const found = await this.#held.inside.beside();
    return found.map(({ path, reason }) => ({ path: shownPath(this.#home, path), reason }));
  }

  list(scope: string, prefix: string): ReturnType<HeldReader["list"]> {
    return this.#held.inside.list(this.#inner(scope), prefix);
  }

  listTrash(scope: string): ReturnType<HeldReader["listTrash"]> {
    return this.#held.inside.listTrash(this.#inner(scope));
  }

  survey(scope: string): ReturnType<HeldReader["survey"]> {
    return this.#held.inside.survey(this.#inner(scope));
  }

  scopeSize(scope: string): ReturnType<HeldReader["scopeSize"]> {
    return this.#held.inside.scopeSize(this.#inner(scope));
  }

  bytesOf(scope: string, path: string): ReturnType<HeldReader["bytesOf"]> {
    return this.#held.inside.bytesOf(this.#inner(scope), path);
  }

  #inner(scope: string): string {
    return innerScope(this.#home, scope);
  }
}

/** Throws `CAPABILITY_DENIED` for a scope that the home does not have. */
function innerScope(home: Home, scope: string): string {
  if (home.kind === "store") {
    // Calls name each store by its id, also the user's own.
    if (scope === home.scope || scope === scopeOfStore(home.id)) return entriesScope;
    if (scope.startsWith(storePrefix)) throw new RangeError("The scope is another store's");
    throw noSuchScope(scope);
  }
  if (home.kind === "mount" && scope !== home.scope) throw new RangeError("The scope is in another home");
  // What the host keeps changes only by its records.
  if (scope === hostScope) throw noSuchScope(scope);
  return scope;
}

const changesFiles = ({ changes }: EngineCommit): boolean => changes.some(({ scope }) => scope !== hostScope);

const outerScope = (home: Home): string => (home.kind === "store" ? home.scope : entriesScope);

/** Scopes of a user or a mount are named the same inside. */
function changesInside(home: Home, changes: ChangeSet): ChangeSet {
  for (const { scope } of changes) innerScope(home, scope);
  return home.kind === "store" ? changes.map((change) => Object.assign({}, change, { scope: entriesScope })) : changes;
}

const writtenGrants = ({ content }: NewGrants): Change => ({
  kind: "write",
  scope: grantsScope,
  path: grantsPath,
  content,
});

/** With what was read of grants. */
function seenInside(home: Home, seen: readonly Seen[], read: readonly Seen[]): readonly Seen[] {
  if (home.kind !== "store") {
    return seen.some(({ scope }) => scope.startsWith(storePrefix))
      ? seen.filter(({ scope }) => !scope.startsWith(storePrefix))
      : seen;
  }
  const ofEntries = seen.filter(({ scope }) => scope === home.scope);
  return [
    ...ofEntries.map(({ path, digest }) => ({ scope: entriesScope, path, digest })),
    ...read.filter(({ scope }) => scope === grantsScope),
  ];
}

function derivedInside(home: Home, derived: DerivedFiles = new Map()): DerivedFiles {
  return home.kind === "store" ? new Map([[entriesScope, derived.get(home.scope) ?? []]]) : derived;
}

function renamedSizes(sizes: KnownSizes, from: string, to: string): KnownSizes {
  if (from === to) return sizes;
  return Object.fromEntries(Object.entries(sizes).flatMap(([scope, size]) => (scope === from ? [[to, size]] : [])));
}

/** Of what lies in no scope, the path in the data folder. */
function shownPath(home: Home & { readonly kind: "store" }, path: string): string {
  const [folder, ...below] = path.split("/");
  return folder === entriesScope ? [home.scope, ...below].join("/") : `stores/${home.id}/${path}`;
}
