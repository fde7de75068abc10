/** The homes that work holds: checks what the work asks, names scopes as the work does, and keeps what was read. */
import type { ListedFile } from "../../shared/abi.ts";
import { isPurge } from "../values/change-set.ts";
import type { Seen } from "../values/change-set.ts";
import { storeOfScope } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { EngineCommit, EngineHome, EngineHomes, ErasableContent, ErasedUser, HomeCommit } from "./engine.ts";
import {
  commits,
  entriesScope,
  grantsPath,
  grantsScope,
  hostScope,
  innerScope,
  keyOf,
  namedIn,
  outerScope,
  scopeIn,
  shownIn,
  storeHome,
} from "./home.ts";
import type { HoldOptions, Home, Mode } from "./home.ts";
import { HostRecords } from "./host-records.ts";
import { StaleCall } from "./plan-changes.ts";
import type { Files, Handed, KnownSizes, ScopeSize, ScopeSurvey, StoreFinding, UnfitFile } from "./reading.ts";
import { SeenFiles, inTime, sumOf } from "./reading.ts";
import { renamedHistory } from "./versions/present-origins.ts";
import type { HeldHistory } from "./versions/present-origins.ts";
import { forgetLines, unstatedFacts } from "./versions/version.ts";

export type { HomeCommit } from "./engine.ts";

interface Hold {
  readonly mode: Mode;
  readonly options: HoldOptions;
}

/** Must not be used after the work has ended. Throws a `RangeError` for homes that are not held. */
export class HeldHomes implements Disposable {
  readonly #hold: Hold;
  readonly #engine: EngineHomes;
  readonly #parts: ReadonlyMap<string, HeldPart>;
  #isEnded = false;
  #hasCommitted = false;

  constructor(homes: readonly Home[], hold: Hold, engine: EngineHomes) {
    this.#hold = hold;
    this.#engine = engine;
    this.#parts = new Map(
      homes.map((home) => {
        const held = engine.of(home);
        const records = new HostRecords(held, () => this.commitEach([[home, { changes: [], seen: [] }]]));
        return [keyOf(home), { engine: held, records, seen: new SeenFiles(), files: null }];
      }),
    );
  }

  /** Throws `StaleCall` if someone has changed a home meanwhile that is only read, and nothing was committed. */
  async run<Result>(work: (held: HeldHomes) => Promise<Result>): Promise<Result> {
    const { mode, options } = this.#hold;
    try {
      const result = await work(this);
      if (!this.#hasCommitted) await this.#refuseStale(false);
      return result;
    } catch (error) {
      // Two versions can also make the work fail.
      const isOver = mode !== "read" || options.signal?.aborted || performance.now() >= options.until;
      if (!isOver) await this.#refuseStale(false);
      throw error;
    }
  }

  /** One of them. A store's entries are in the scope that `home` names. */
  of(home: Home): HeldHome {
    this.#partOf(home);
    return new HeldHome(home, () => this.#partOf(home), this);
  }

  has(home: Home): boolean {
    return this.#parts.has(keyOf(home));
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
  async commitEach(
    asked: readonly (readonly [home: Home, commit: HomeCommit])[],
    done: (home: Home) => void = () => {},
  ): Promise<void> {
    const parts = asked.map(([home, commit]) => this.#inside(home, commit));
    const wanted = parts.filter(
      ({ changes, records, lowered }) => changes.length + records.length + lowered.length > 0,
    );
    if (wanted.length === 0) return;
    for (const { home } of wanted) this.#checkCommits(home);
    if (new Set(wanted.map(({ home }) => keyOf(home))).size < wanted.length)
      throw new RangeError("A home is named twice");
    if (!this.#hasCommitted) await this.#refuseStale(true);
    try {
      await this.#engine.commit(wanted, (home) => {
        // What the host has noted about the user is not undone by another attempt.
        this.#hasCommitted ||= wanted.some((part) => keyOf(part.home) === keyOf(home) && part.changes.length > 0);
        done(home);
      });
    } catch (error) {
      // Work is repeated only as long as nothing of it is durable.
      throw this.#hasCommitted && error instanceof StaleCall
        ? new ToolError("BUSY", error.message, { cause: error })
        : error;
    }
    this.#closeFiles();
  }

  /**
   * In mode `erase`: takes everything away, all of it or nothing, durably: from then on the user has nothing, and later
   * calls begin anew. Must be the last thing that the work does. What is taken away is removed later, by `Store.erased`.
   * `erasedMs`: the time of the erasure, on the clock of grants.
   */
  async erase(erasedMs: number): Promise<ErasedUser> {
    if (this.#hold.mode !== "erase")
      throw new RangeError(`Cannot erase: the homes are held in mode ${this.#hold.mode}`);
    const erased = await this.#engine.erase(erasedMs);
    forgetLines();
    return erased;
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    this.#closeFiles();
  }

  /** The next read opens them again. */
  #closeFiles(): void {
    for (const part of this.#parts.values()) {
      part.files?.[Symbol.dispose]?.();
      part.files = null;
    }
  }

  #partOf(home: Home): HeldPart {
    const part = this.#isEnded ? undefined : this.#parts.get(keyOf(home));
    if (part === undefined) throw new RangeError("The home is not held");
    return part;
  }

  /** The changes with the scopes inside the home, and with those of its records. */
  #inside(home: Home, commit: HomeCommit): EngineCommit {
    const part = this.#partOf(home);
    const { grants, knownSizes, by = null, facts = unstatedFacts(Date.now()), derived = [], kind } = commit;
    const inside = (scope: string): string | null => scopeIn(home, scope);
    const changes = commit.changes.map((each) => scoped(each, innerScope(home, each.scope)));
    const seen = commit.seen.flatMap((each) => inEach(each, inside(each.scope)));
    const staged = part.records.take();
    const isLast = changes.length > 0 && !grants && isPurge(changes);
    if (isLast && staged.records.length + staged.lowered.length > 0) throw new RangeError("A purge changes no record");
    if (grants) changes.push({ kind: "write", scope: grantsScope, path: grantsPath, content: grants.content });
    return {
      home,
      by,
      grants,
      changes,
      seen: home.kind === "store" ? [...seen, ...part.seen.list().filter(isOfGrants)] : seen,
      facts,
      derived: new Map(namedIn(derived, inside)),
      knownSizes: knownSizes && Object.fromEntries(namedIn(Object.entries(knownSizes), inside)),
      kind: isLast ? "purged" : kind,
      records: staged.records,
      lowered: staged.lowered,
    };
  }

  #checkCommits(home: Home): void {
    const { mode, options } = this.#hold;
    const isOnlyRead = options.onlyRead?.some((each) => keyOf(each) === keyOf(home)) === true;
    if (commits(mode) && !isOnlyRead) return;
    throw new RangeError("Cannot commit: the home is held for reading only");
  }

  async #refuseStale(keeps: boolean): Promise<void> {
    if (!(await this.#engine.areReadStill(keeps))) throw new StaleCall();
  }
}

/** One home of a hold, whatever its scopes are called. */
interface HeldPart {
  readonly engine: EngineHome;
  readonly records: HostRecords;
  /** What was read so far. */
  readonly seen: SeenFiles;
  /** `null` before the first read, and after a commit. */
  files: Files | null;
}

/** One home, as whoever holds it names its scopes. What it reads is without what the host keeps. */
export class HeldHome {
  readonly home: Home;
  /** With the others that are held. */
  readonly all: HeldHomes;
  readonly #held: () => HeldPart;

  /** `part`: throws a `RangeError` after the work has ended. */
  constructor(home: Home, part: () => HeldPart, all: HeldHomes) {
    this.home = home;
    this.#held = part;
    this.all = all;
  }

  /** The home that has a scope of a call: that of a store, or else this one. */
  withScope(scope: string): HeldHome {
    const id = storeOfScope(scope);
    return id === null ? this : this.all.of(storeHome(id));
  }

  /** Whether anything was committed to it, or somebody has put files into it by hand. */
  get isThere(): boolean {
    return this.#held().engine.has();
  }

  async scopes(): Promise<string[]> {
    const { home } = this;
    if (home.kind === "store") return this.isThere ? [home.scope] : [];
    return (await inTime(this.#files.scopes())).filter((scope) => scope !== hostScope);
  }

  async beside(): Promise<UnfitFile[]> {
    return shownIn(this.home, await inTime(this.#files.beside?.() ?? []));
  }

  async list(scope: string, prefix: string): Promise<ListedFile[]> {
    // Upkeep is there to relieve the limits of tools, so it has none.
    return await inTime(this.#files.list(innerScope(this.home, scope), prefix, Infinity));
  }

  async listTrash(scope: string): Promise<ListedFile[]> {
    return await inTime(this.#files.listTrash(innerScope(this.home, scope)));
  }

  async survey(scope: string): Promise<ScopeSurvey> {
    return await inTime(this.#files.survey(innerScope(this.home, scope)));
  }

  async scopeSize(scope: string): Promise<ScopeSize> {
    return await inTime(this.#files.scopeSize(innerScope(this.home, scope)));
  }

  async bytesOf(scope: string, path: string): Promise<Uint8Array | null> {
    return await this.#read(innerScope(this.home, scope), path);
  }

  /** What `bytesOf` has read so far. */
  get seen(): readonly Seen[] {
    return this.#held()
      .seen.list()
      .flatMap((each) => inEach(each, outerScope(this.home, each.scope)));
  }

  /** The versions of its files. */
  get history(): HeldHistory {
    const { history } = this.#held().engine;
    return this.home.kind === "store" ? renamedHistory(history, entriesScope, this.home.scope) : history;
  }

  /** What is still known of the sizes of its scopes. */
  get knownSizes(): KnownSizes {
    const known = Object.entries(this.#held().engine.knownSizes ?? {});
    return Object.fromEntries(namedIn(known, (scope) => outerScope(this.home, scope)));
  }

  /** Of a user's home: what the host keeps. Of a store: which ones its owner leaves out. */
  get records(): HostRecords {
    if (this.home.kind === "mount") throw new RangeError("A mounted folder has no records");
    return this.#held().records;
  }

  /** The bytes of a store's file with grants; `null` if there is none. */
  async grants(): Promise<Uint8Array | null> {
    return await this.#read(grantsScope, grantsPath);
  }

  /** The problems that can be found without parsing the files. */
  async findings(): Promise<StoreFinding[]> {
    return shownIn(this.home, (await this.#held().engine.findings?.()) ?? []);
  }

  /** What there is, also what no tool can read. In modes `erase` and `look`. */
  async contents(): Promise<ErasableContent[]> {
    const found = (await this.#held().engine.contents?.()) ?? (await contentsOf(this.#files));
    return found.map((each) =>
      Object.assign({}, each, { scope: each.scope === null ? null : outerScope(this.home, each.scope) }),
    );
  }

  /** Makes a change set visible and durable, all of it or nothing. Makes the home if it is not there. */
  async commit(commit: HomeCommit): Promise<void> {
    await this.all.commitEach([[this.home, commit]]);
  }

  /** An engine can answer at once, so whoever reads many files gives others a turn here. */
  async #read(scope: string, path: string): Promise<Uint8Array | null> {
    await giveTurn();
    const bytes = await inTime(this.#files.bytesOf(scope, path));
    this.#held().seen.note(scope, path, bytes);
    return bytes;
  }

  get #files(): Files {
    const part = this.#held();
    return (part.files ??= part.engine.open());
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

const isOfGrants = ({ scope }: Seen): boolean => scope === grantsScope;

/** A file of another scope; none if it has no name there. */
const inEach = (seen: Seen, scope: string | null): Seen[] => (scope === null ? [] : [scoped(seen, scope)]);

const scoped = <Placed extends { readonly scope: string }>(each: Placed, scope: string): Placed =>
  each.scope === scope ? each : { ...each, scope };
