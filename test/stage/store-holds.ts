/** What tests hold of a store: one user, a user's records, some stores, all that an erasure takes. */
import type { Engine, ErasableContent, ErasedUser } from "../../host/store/engine.ts";
import type { HeldHome, HeldHomes, HomeCommit } from "../../host/store/held-homes.ts";
import { entriesScope, storeHome, userHome } from "../../host/store/home.ts";
import type { HoldOptions as HostHoldOptions, Mode } from "../../host/store/home.ts";
import type { HostRecords } from "../../host/store/host-records.ts";
import type { Handed, KnownSizes, StoreFinding } from "../../host/store/reading.ts";
import type { Store } from "../../host/store/store.ts";
import type { HeldHistory } from "../../host/store/versions/present-origins.ts";
import type { ChangeSet, Seen } from "../../host/values/change-set.ts";
import { ownStoreOf } from "../../host/values/ids.ts";
import type { StoreId, UserId } from "../../host/values/ids.ts";

export interface HoldOptions extends Omit<HostHoldOptions, "as" | "onlyRead" | "finishes"> {
  readonly writes: boolean;
  readonly isLookingOnly?: boolean;
  readonly isThorough?: boolean;
}

export interface StoreHoldOptions extends Omit<HoldOptions, "scopes">, Pick<HostHoldOptions, "as"> {
  readonly onlyRead?: readonly StoreId[];
}

export interface HoldToEraseOptions extends Pick<HoldOptions, "until" | "signal"> {
  readonly to: "look" | "remove" | "read";
}

export type CommitFacts = Omit<HomeCommit, "changes" | "seen" | "by" | "grants">;

export type ChangesOfStore = readonly [id: StoreId, changes: HomeCommit];

/** Holds the home that has a user's scopes. */
function holdUser<Result>(
  this: Store,
  userId: UserId,
  options: HoldOptions,
  work: (held: HeldUser) => Promise<Result>,
): Promise<Result> {
  const home = this.homeOf(userId, options.scopes ?? []);
  return this.hold([home], modeOf(options), options, (held) => work(new HeldUser(held.of(home), held)));
}

function holdStores<Result>(
  this: Store,
  ids: readonly StoreId[],
  { onlyRead = [], ...options }: StoreHoldOptions,
  work: (held: HeldStores) => Promise<Result>,
): Promise<Result> {
  const asked = { ...options, onlyRead: onlyRead.map(storeHome) };
  return this.hold(ids.map(storeHome), modeOf(options), asked, (held) => work(new HeldStores(ids, held)));
}

/** What the work has written is durable when it has ended. */
function holdRecords<Result>(
  this: Store,
  userId: UserId,
  options: HoldOptions,
  work: (records: HostRecords) => Promise<Result>,
): Promise<Result> {
  const home = userHome(userId);
  return this.hold([home], modeOf(options), options, async (held) => {
    const { records } = held.of(home);
    const result = await work(records);
    await records.commit();
    return result;
  });
}

function holdToErase<Result>(
  this: Store,
  userId: UserId,
  { to, ...options }: HoldToEraseOptions,
  work: (held: HeldToErase) => Promise<Result>,
): Promise<Result> {
  const homes = [userHome(userId), storeHome(ownStoreOf(userId))];
  return this.hold(homes, to === "look" ? "look" : "erase", { ...options, finishes: to === "read" }, (held) =>
    work({
      contents: async () => (await Promise.all(homes.map((home) => held.of(home).contents()))).flat(),
      erase: (erasedMs) => held.erase(erasedMs),
    }),
  );
}

/** Notes that a principal leaves out a store, whether it has granted anything or not, or does so no more. */
function leave(this: Store, principal: StoreId, store: StoreId, isLeft: boolean): Promise<void> {
  const home = storeHome(principal);
  return this.hold([home], "write", { until: performance.now() + 30_000 }, async (held) => {
    const { records } = held.of(home);
    await (isLeft ? records.write("left", store, "") : records.remove("left", store));
    await records.commit();
  });
}

const holds = { holdUser, holdStores, holdRecords, holdToErase, leave };

export type OpenedStore = Store & typeof holds & { readonly engine: Engine };

/**
 * A store with more holds. It must be of the same host as its engine, as in the crash suites, which test several: a store
 * knows only the errors of its own host, and repeats nothing else that was stale.
 */
export const withHolds = (store: Store, engine: Engine): OpenedStore => Object.assign(store, { ...holds, engine });

export const modeOf = ({ writes, isLookingOnly = false, isThorough = false }: HoldOptions): Mode => {
  if (isLookingOnly) return "look";
  if (!writes) return "read";
  return isThorough ? "thorough" : "write";
};

/** A user's home, held alone. */
export class HeldUser {
  readonly #held: HeldHome;
  readonly #all: HeldHomes;

  constructor(held: HeldHome, all: HeldHomes) {
    this.#held = held;
    this.#all = all;
  }

  get reader(): HeldHome {
    return this.#held;
  }

  get history(): HeldHistory {
    return this.#held.history;
  }

  get knownSizes(): KnownSizes {
    return this.#held.knownSizes;
  }

  get handed(): Handed | null {
    return this.#all.handed;
  }

  findings(): Promise<StoreFinding[]> {
    return this.#held.findings();
  }

  commit(changes: ChangeSet, seen: readonly Seen[], more: CommitFacts = {}): Promise<void> {
    return this.#held.commit({ changes, seen, ...more });
  }
}

/** Some stores, held together. */
export class HeldStores {
  readonly #ids: readonly StoreId[];
  readonly #all: HeldHomes;

  constructor(ids: readonly StoreId[], all: HeldHomes) {
    this.#ids = ids;
    this.#all = all;
  }

  has(id: StoreId): boolean {
    return this.#of(id).isThere;
  }

  /** Its scope is `entries`. */
  reader(id: StoreId): HeldHome {
    return this.#all.of({ ...storeHome(id), scope: entriesScope });
  }

  grants(id: StoreId): Promise<Uint8Array | null> {
    return this.#of(id).grants();
  }

  /** Its scope is `entries`. */
  history(id: StoreId): HeldHistory {
    return this.#all.of({ ...storeHome(id), scope: entriesScope }).history;
  }

  /** What was read of entries so far, with scopes `store:<uuid>`. */
  get seen(): readonly Seen[] {
    return this.#ids.flatMap((id) => this.#of(id).seen);
  }

  /** By scope `store:<uuid>`. */
  get knownSizes(): KnownSizes {
    return Object.assign({}, ...this.#ids.map((id) => this.#of(id).knownSizes)) as KnownSizes;
  }

  get handed(): Handed | null {
    return this.#all.handed;
  }

  findings(id: StoreId): Promise<StoreFinding[]> {
    return this.#of(id).findings();
  }

  async commit(id: StoreId, changes: HomeCommit): Promise<void> {
    await this.#of(id).commit(changes);
  }

  commitEach(parts: readonly ChangesOfStore[], done: (id: string) => void): Promise<void> {
    return this.#all.commitEach(
      parts.map(([id, changes]) => [storeHome(id), changes]),
      (home) => done(home.id),
    );
  }

  #of(id: StoreId): HeldHome {
    return this.#all.of(storeHome(id));
  }
}

/** Everything of a user: the folder and the own store. */
export interface HeldToErase {
  contents(): Promise<ErasableContent[]>;
  erase(erasedMs: number): Promise<ErasedUser>;
}
