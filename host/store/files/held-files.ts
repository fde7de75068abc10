/** The homes of a hold, as files: reads and commits them, in their sessions as far as they have some. */
import type { Directory } from "../../disk/directory.ts";
import type { Change } from "../../values/change-set.ts";
import type { StoreId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import type {
  EngineCommit,
  EngineHome,
  EngineHomes,
  EngineRecords,
  ErasableContent,
  ErasedUser,
  NewGrants,
} from "../engine.ts";
import { hostScope, keyOf, leftAt } from "../home.ts";
import type { HoldOptions, Home } from "../home.ts";
import { StaleCall } from "../plan-changes.ts";
import type { HandedHome } from "../readers.ts";
import type { Files, KnownSizes, StoreFinding } from "../reading.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import type { WalTail } from "./commit/wal-format.ts";
import { contentsOf } from "./erase-homes.ts";
import { examineHome } from "./examine.ts";
import { FileReader } from "./file-reader.ts";
import { hasStore } from "./found-homes.ts";
import type { GrantedHints } from "./granted-hints.ts";
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";
import type { Homes } from "./homes.ts";
import { readRecord, recordSizes } from "./record-files.ts";
import { HomeFolder } from "./scope-folders.ts";
import { areStill, hasCommits } from "./wal-version.ts";
import type { Versions } from "./wal-version.ts";

/** How one home is held. */
export interface HeldPart {
  readonly home: FileHome;
  /** Set by the first commit if there is none. */
  session: HomeSession | null;
  /** Instead of a session, where nothing is to be finished. */
  readonly lock?: Disposable | null;
  /** Without a session: the state in which the home is read; absent if that is not known. */
  readonly tail?: WalTail | null | undefined;
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
  #hasCommitted = false;

  constructor(parts: readonly HeldPart[], hold: HeldTogether) {
    this.#parts = parts;
    this.#hold = hold;
    // Whoever waits with several locks can wait for ever.
    const waits = parts.length === 1;
    this.#held = new Map(parts.map((part) => [part.home.key, new HeldFileHome(part, hold, waits)]));
  }

  /** Throws `StaleCall` if what was read without a lock is perhaps no more, and nothing was committed. */
  async run<Result>(work: (held: EngineHomes) => Promise<Result>): Promise<Result> {
    const result = await work(this);
    if (!this.#hasCommitted && this.#parts.some(isGone)) throw new StaleCall();
    return result;
  }

  of(home: Home): HeldFileHome {
    const held = this.#held.get(keyOf(home));
    if (held === undefined) throw new RangeError("The home is not held");
    return held;
  }

  /** Of stores, and of several other homes, threads open each themselves. */
  get handed(): HandedHome | null {
    const [home, ...others] = this.#parts.filter((part) => part.home.kind !== "store");
    return others.length === 0 ? (home?.session?.handed ?? null) : null;
  }

  areReadStill(): boolean {
    return this.#hold.read.size === 0 || areStill(this.#hold.read);
  }

  async commit(parts: readonly EngineCommit[], done: (home: Home) => void): Promise<void> {
    // A store that had no lock when the hold began can have been made since.
    const isNew = ({ home, session }: HeldPart): boolean =>
      home.kind === "store" && session === null && !this.#hold.read.has(home.key) && hasCommits(home);
    for (const part of parts) {
      if (this.#parts.some(isNew)) throw new StaleCall();
      await this.of(part.home).commit(part);
      this.#hasCommitted = true;
      done(part.home);
    }
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
  readonly history: HeldHistory;
  readonly knownSizes: KnownSizes;
  #latestSizes: KnownSizes;

  constructor(part: HeldPart, hold: HeldTogether, waits: boolean) {
    const { home, session, tail = null } = part;
    this.#part = part;
    this.#hold = hold;
    this.#waits = waits && home.kind !== "store";
    this.history = hold.homes.heldHistory(home, () => part.session, tail);
    this.knownSizes = session !== null && hold.writes ? hold.homes.knownSizes(session) : {};
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

  get records(): EngineRecords {
    const store = storeIn(this.#part.home);
    const leftBy = (id: StoreId): Map<string, number> => new Map(this.#hold.hints.leftBy(id).map((each) => [each, 0]));
    return {
      sizes: async (kind) => (store ? leftBy(store) : this.#inOwn((own) => recordSizes(own, kind))),
      read: async (kind, name) => this.#inOwn((own) => readRecord(own, kind, name)),
    };
  }

  findings(): Promise<StoreFinding[]> {
    const { home } = this.#part;
    const { boot } = this.#hold.homes;
    return examineHome(home, { boot, known: this.#hold.homes.tailOf(home) });
  }

  contents(): Promise<ErasableContent[]> {
    return contentsOf(this.#part.home);
  }

  async commit(asked: EngineCommit): Promise<void> {
    const { homes, hints } = this.#hold;
    const store = storeIn(this.#part.home);
    const commit = store ? await this.#withoutLeft(store, asked) : asked;
    if (commit.changes.length + commit.lowered.length === 0) return;
    const { grants, knownSizes = this.#latestSizes } = commit;
    const session = (this.#part.session ??= await this.#openFirst());
    // Before the commit: a hint without a grant does no harm, but a grant without a hint is not found.
    if (store && grants) for (const each of grants.granted) await hints.add(store, each, grants.nowMs);
    this.#latestSizes = await session.commit(commit, knownSizes);
    homes.noteCommit(session, this.#latestSizes, this.knownSizes, commit.kind === "purged");
    if (store && grants) this.#forgetHints(store, grants);
  }

  /** Notes which stores the owner of a store leaves out, and returns the rest. Each counts for itself. */
  async #withoutLeft(store: StoreId, commit: EngineCommit): Promise<EngineCommit> {
    const changes = commit.changes.filter(({ scope }) => scope !== hostScope);
    if (changes.length === commit.changes.length) return commit;
    const left = (kind: Change["kind"]): StoreId[] =>
      commit.changes.flatMap((each) => (each.scope === hostScope && each.kind === kind ? leftAt(each.path) : []));
    await this.#hold.hints.leave(store, left("write"));
    await this.#hold.hints.rejoin(store, left("remove"));
    return { ...commit, changes };
  }

  /**
   * After the commit: of grants that are gone, or that others have replaced. What fails here is left, since the change has
   * been made: a hint without a grant does no harm.
   */
  #forgetHints(store: StoreId, { granted, revoked = [] }: NewGrants): void {
    const { hints } = this.#hold;
    try {
      for (const each of granted) hints.remove(store, each.grantee, each);
      for (const principal of revoked) hints.remove(store, principal, null);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
    }
  }

  /** Makes the home's folder and lock. */
  async #openFirst(): Promise<HomeSession> {
    const { homes, options } = this.#hold;
    try {
      return await homes.openFirst(this.#part.home, this.#waits ? options : { until: performance.now() });
    } catch (error) {
      const isTaken = !this.#waits && error instanceof ToolError && error.code === "BUSY";
      throw isTaken ? new StaleCall() : error;
    }
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
const storeIn = ({ kind, names: [, id] }: FileHome): StoreId | null => (kind === "store" ? (id as StoreId) : null);
