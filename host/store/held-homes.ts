/** The homes that work holds: checks what the work asks, names scopes as the work does, and keeps the readers. */
import type { ListedFile } from "../../shared/abi.ts";
import { storePrefix } from "../../shared/shared-scope.ts";
import { isPurge } from "../values/change-set.ts";
import type { Change, Seen } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type {
  EngineCommit,
  EngineHome,
  EngineHomes,
  ErasableContent,
  ErasedUser,
  HomeCommit,
  NewGrants,
} from "./engine.ts";
import {
  commits,
  entriesScope,
  grantsPath,
  grantsScope,
  hostScope,
  innerScope,
  keyOf,
  renamedSeen,
  renamedSizes,
  seenOutside,
  shownIn,
  sizesOutside,
} from "./home.ts";
import type { HoldOptions, Home, Mode } from "./home.ts";
import { HostRecords } from "./host-records.ts";
import { StaleCall } from "./plan-changes.ts";
import type { Handed } from "./readers.ts";
import { SeenFiles, inTime, sumOf } from "./reading.ts";
import type { Files, HeldReader, KnownSizes, ScopeSize, ScopeSurvey, StoreFinding, UnfitFile } from "./reading.ts";
import { renamedHistory } from "./versions/present-origins.ts";
import type { HeldHistory } from "./versions/present-origins.ts";
import { unstatedFacts } from "./versions/version.ts";

export type { HomeCommit } from "./engine.ts";

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
    return new HeldHome(home, this.#partOf(home), this);
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
    for (const part of this.#parts.values()) part.forget();
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
    for (const part of this.#parts.values()) part.end();
  }

  #partOf(home: Home): HeldPart {
    const key = keyOf(home);
    if (this.#isEnded || !this.#homes.has(key)) throw notHeld();
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const commit = (): Promise<void> => this.commitEach([[home, { changes: [], seen: [] }]]);
    const part = new HeldPart(this.#engine.of(home), commit);
    this.#parts.set(key, part);
    return part;
  }

  /** The changes with the scopes inside the home, and with those of its records. */
  #inside(home: Home, commit: HomeCommit): EngineCommit {
    const part = this.#partOf(home);
    const inside = commitInside(home, commit);
    const { grants, changes, seen, by = null, facts = unstatedFacts(Date.now()) } = inside;
    const staged = part.records.take();
    const isLast = changes.length > 0 && !grants && isPurge(changes);
    if (isLast && staged.changes.length + staged.lowered.length > 0) throw new RangeError("A purge changes no record");
    return {
      ...inside,
      home,
      by,
      changes: [...changes, ...(grants ? [writtenGrants(grants)] : []), ...staged.changes],
      seen: home.kind === "store" ? [...seen, ...part.seenGrants] : seen,
      facts,
      kind: isLast ? "purged" : commit.kind,
      lowered: staged.lowered,
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

const notHeld = (): RangeError => new RangeError("The home is not held");

/** One home, by the scopes inside it. The first read opens its files. */
class HeldPart {
  readonly records: HostRecords;
  /** What was read so far. */
  readonly seen = new SeenFiles();
  readonly #engine: EngineHome;
  #opened: Files | null = null;
  #isEnded = false;

  constructor(engine: EngineHome, commit: () => Promise<void>) {
    this.#engine = engine;
    this.records = new HostRecords(engine, commit);
  }

  get engine(): EngineHome {
    if (this.#isEnded) throw notHeld();
    return this.#engine;
  }

  get files(): Files {
    const { engine } = this;
    return (this.#opened ??= engine.open());
  }

  /** What was read of a store's grants. */
  get seenGrants(): Seen[] {
    return this.seen.list().filter(({ scope }) => scope === grantsScope);
  }

  /** An engine can answer at once, so whoever reads many files gives others a turn here. */
  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    await giveTurn();
    const bytes = await inTime(this.files.bytesOf(scope, path));
    this.seen.note(scope, path, bytes);
    return bytes;
  }

  /** Closes the files. After a commit, the next read opens them again. */
  forget(): void {
    this.#opened?.[Symbol.dispose]?.();
    this.#opened = null;
  }

  /** Closes the files and refuses later reads: nobody would close what they open. */
  end(): void {
    this.forget();
    this.#isEnded = true;
  }
}

/** One home, as whoever holds it names its scopes. */
export class HeldHome implements HeldReader {
  readonly home: Home;
  /** With the others that are held. */
  readonly all: HeldHomes;
  readonly #part: HeldPart;

  constructor(home: Home, part: HeldPart, all: HeldHomes) {
    this.home = home;
    this.#part = part;
    this.all = all;
  }

  /** Whether anything was committed to it, or somebody has put files into it by hand. */
  get isThere(): boolean {
    return this.#part.engine.has();
  }

  /** Its files, without what the host keeps. */
  get reader(): HeldReader {
    return this;
  }

  async scopes(): Promise<string[]> {
    const { home } = this;
    if (home.kind === "store") return this.isThere ? [home.scope] : [];
    return (await inTime(this.#part.files.scopes())).filter((scope) => scope !== hostScope);
  }

  async beside(): Promise<UnfitFile[]> {
    return shownIn(this.home, await inTime(this.#part.files.beside()));
  }

  async list(scope: string, prefix: string): Promise<ListedFile[]> {
    // Upkeep is there to relieve the limits of tools, so it has none.
    return await inTime(this.#part.files.list(innerScope(this.home, scope), prefix, Infinity));
  }

  async listTrash(scope: string): Promise<ListedFile[]> {
    return await inTime(this.#part.files.listTrash(innerScope(this.home, scope)));
  }

  async survey(scope: string): Promise<ScopeSurvey> {
    return await inTime(this.#part.files.survey(innerScope(this.home, scope)));
  }

  async scopeSize(scope: string): Promise<ScopeSize> {
    return await inTime(this.#part.files.scopeSize(innerScope(this.home, scope)));
  }

  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    return await this.#part.bytesOf(innerScope(this.home, scope), path);
  }

  get seen(): readonly Seen[] {
    return seenOutside(this.home, this.#part.seen.list());
  }

  /** The versions of its files. */
  get history(): HeldHistory {
    const { history } = this.#part.engine;
    return this.home.kind === "store" ? renamedHistory(history, entriesScope, this.home.scope) : history;
  }

  /** What is still known of the sizes of its scopes. */
  get knownSizes(): KnownSizes {
    return sizesOutside(this.home, this.#part.engine.knownSizes ?? {});
  }

  /** Of a user's home: what the host keeps. Of a store: which ones its owner leaves out. */
  get records(): HostRecords {
    if (this.home.kind === "mount") throw new RangeError("A mounted folder has no records");
    return this.#part.records;
  }

  /** The bytes of a store's file with grants; `null` if there is none. */
  async grants(): Promise<Uint8Array | null> {
    return await this.#part.bytesOf(grantsScope, grantsPath);
  }

  /** The problems that can be found without parsing the files. */
  async findings(): Promise<StoreFinding[]> {
    return shownIn(this.home, (await this.#part.engine.findings?.()) ?? []);
  }

  /** What there is, also what no tool can read. In modes `erase` and `look`. */
  async contents(): Promise<ErasableContent[]> {
    const { home } = this;
    const found = (await this.#part.engine.contents?.()) ?? (await contentsOf(this.#part.files));
    if (home.kind !== "store") return found;
    return found.map(({ scope, ...sum }) => Object.assign(sum, { scope: scope === entriesScope ? home.scope : null }));
  }

  /** Makes a change set visible and durable, all of it or nothing. Makes the home if it is not there. */
  async commit(commit: HomeCommit): Promise<void> {
    await this.all.commitEach([[this.home, commit]]);
  }
}

async function contentsOf(files: Files): Promise<ErasableContent[]> {
  const contents: ErasableContent[] = [];
  for (const scope of await inTime(files.scopes())) {
    const { live, trash } = await inTime(files.scopeSize(scope));
    contents.push({ scope, ...sumOf(live, trash), closed: [] });
  }
  return contents;
}

const changesFiles = ({ changes }: EngineCommit): boolean => changes.some(({ scope }) => scope !== hostScope);

const writtenGrants = ({ content }: NewGrants): Change => ({
  kind: "write",
  scope: grantsScope,
  path: grantsPath,
  content,
});

/** A commit by the scopes inside the home. Those of a user or a mount are named the same. */
function commitInside(home: Home, commit: HomeCommit): HomeCommit & Pick<EngineCommit, "derived"> {
  const { changes, seen, derived = new Map(), knownSizes } = commit;
  for (const { scope } of changes) innerScope(home, scope);
  if (home.kind !== "store") {
    return { ...commit, derived, seen: seen.some(isOfStore) ? seen.filter((each) => !isOfStore(each)) : seen };
  }
  return {
    ...commit,
    changes: changes.map((change) => Object.assign({}, change, { scope: entriesScope })),
    seen: renamedSeen(seen, home.scope, entriesScope),
    derived: new Map([[entriesScope, derived.get(home.scope) ?? []]]),
    knownSizes: knownSizes && renamedSizes(knownSizes, home.scope, entriesScope),
  };
}

const isOfStore = ({ scope }: Seen): boolean => scope.startsWith(storePrefix);
