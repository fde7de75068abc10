/** Decides which stores a call reaches: on every request, from the caller's identity, the grants and the program. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessSources } from "../../shared/shared-scope.ts";
import { isLive } from "../store/grant-hints.ts";
import type { HeldHomes } from "../store/held-homes.ts";
import { storeHome } from "../store/home.ts";
import type { ActingPrincipal, Home } from "../store/home.ts";
import type { Store } from "../store/store.ts";
import type { StoreId } from "../values/ids.ts";
import type { DecidedStore, DecidedStores, StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import { canAccess, grantsIn } from "./grants.ts";
import type { Access } from "./grants.ts";
import { lowerLevel } from "./vouching.ts";
import type { Vouching } from "./vouching.ts";

export interface Deciding {
  /** The caller's own store. */
  readonly principal: StoreId;
  readonly vouching: Vouching;
  readonly store: Store;
  readonly clock: () => number;
}

const fewStores = 16;

/** The stores that a call may have to do with. Grows as its guest asks for more; nothing else is ever opened. */
export class StoresInQuestion {
  readonly #deciding: Deciding;
  /** What the program says: decisions lack its answers as long as `vouching.isLacking`. */
  readonly vouching: Vouching;
  /** Those about which a decision needs their grants, or that the call reaches. */
  readonly #held: Set<StoreId>;
  /** Those that the caller certainly does not reach. They are never opened. */
  readonly #denied = new Set<StoreId>();
  /** Those of the held ones that the caller may not change. */
  #onlyRead: ReadonlySet<StoreId> = new Set();
  #isComplete = false;

  constructor(deciding: Deciding) {
    this.#deciding = deciding;
    this.vouching = deciding.vouching;
    this.#held = new Set([deciding.principal]);
  }

  /** The stores to hold while the guest runs. */
  get homes(): readonly Home[] {
    return Array.from(this.#held, storeHome);
  }

  /** For whom they are held. */
  get as(): ActingPrincipal {
    const { principal } = this.#deciding;
    return { principal, vouched: this.vouching.known.filter(({ id }) => this.#held.has(id)) };
  }

  /** Those of them that need no lock, as `survey` has found. */
  get onlyRead(): readonly Home[] {
    return Array.from(this.#onlyRead, storeHome);
  }

  /**
   * Adds the stores that the user is known to reach, if they are few: to decide about one takes 0.1 ms, another run of
   * the guest 2 ms. For calls that hold no locks.
   */
  async addFew(): Promise<void> {
    const known = await this.#known();
    if (known.listed.length > fewStores) return;
    for (const id of known.listed) this.#put(id, true);
    this.#isComplete = true;
  }

  /** Adds what a guest has asked for. */
  async add({ stores, isAll }: { readonly stores: readonly StoreId[]; readonly isAll: boolean }): Promise<void> {
    const { vouching } = this;
    const known = await this.#known();
    const others = stores.filter((id) => !known.all.has(id));
    for (const id of others) vouching.of(id);
    await vouching.askLacking();
    for (const id of stores) this.#put(id, known.all.has(id) || vouching.of(id) !== null);
    if (isAll) for (const id of known.listed) this.#put(id, true);
    this.#isComplete ||= isAll;
  }

  /** Finds out which of them need no lock, because the caller may not change them. */
  async survey(held: HeldHomes): Promise<void> {
    this.#onlyRead = new Set();
    const { stores } = await this.decide(held);
    const mayChange = new Set(stores.filter(({ level }) => level === "readwrite").map(({ id }) => id));
    this.#onlyRead = new Set(Array.from(this.#held).filter((id) => !mayChange.has(id)));
  }

  /** Decides about all of them. `held` are the stores of `this.homes`. Never waits for the program. */
  async decide(held: HeldHomes): Promise<DecidedStores> {
    const { principal, clock } = this.#deciding;
    const nowMs = clock();
    const decided: Ranked[] = [];
    let own: readonly StoreGrant[] | null = null;
    for (const id of this.#held) {
      const grants = await grantsOf(held, id);
      if (id === principal) own = grants;
      const vouched = (): Access | null => this.vouching.of(id);
      const access = canAccess({ principal, store: id, grants: grants ?? [], vouched, nowMs });
      const grantedMs = grants?.find(({ grantee }) => grantee === principal)?.grantedMs ?? 0;
      decided.push({ id, grantedMs, ...(access === null ? noAccess : this.#bounded(id, access)) });
    }
    for (const id of this.#denied) decided.push({ id, grantedMs: 0, ...noAccess });
    const stores = decided.toSorted(inOrder).map(({ id, level, source }) => ({ id, level, source }));
    const live = own?.filter((grant) => isLive(grant, nowMs)) ?? null;
    return { own: principal, stores, isComplete: this.#isComplete, grants: live };
  }

  /** Whether all decisions still hold: time has passed since they were made. */
  async isStill(before: DecidedStores, held: HeldHomes): Promise<boolean> {
    const now = await this.decide(held);
    return before.stores.every(({ id, level }) => now.stores.find((each) => each.id === id)?.level === level);
  }

  /** Without its lock, a store cannot be changed, also if the caller was allowed to since. */
  #bounded(id: StoreId, { source, level }: Access): Access {
    return { source, level: this.#onlyRead.has(id) ? lowerLevel(level, "read") : level };
  }

  /** What the context names, and hints of grants. */
  async #known(): Promise<Known> {
    const { principal, store, vouching, clock } = this.#deciding;
    const nowMs = clock();
    const hints = (await store.hintsOf(principal)).filter((hint) => isLive(hint, nowMs));
    const granted = hints.filter(({ isLeft }) => !isLeft).map((hint) => hint.store);
    return {
      all: new Set([...vouching.named, ...hints.map((hint) => hint.store)]),
      listed: [...new Set([...vouching.named, ...granted])],
    };
  }

  /** The first ones stay: those that the context names, then the oldest grants. */
  #put(id: StoreId, isPossible: boolean): void {
    if (this.#held.has(id)) return;
    const isHeld = isPossible && this.#held.size < sharingLimits.storesMax;
    (isHeld ? this.#held : this.#denied).add(id);
  }
}

interface Known {
  readonly all: ReadonlySet<StoreId>;
  /** Without those that the user leaves out. */
  readonly listed: readonly StoreId[];
}

/** `null` if they cannot be read: then they open the store to nobody, and cannot be changed. */
async function grantsOf(held: HeldHomes, id: StoreId): Promise<readonly StoreGrant[] | null> {
  try {
    return await grantsIn(held.of(storeHome(id)));
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

const noAccess: { readonly [Key in keyof Access]: null } = { level: null, source: null };

type Ranked = DecidedStore & { readonly grantedMs: number };

/** The caller's own store, those that were granted, the oldest first, then those that the program vouches for. */
const inOrder = (a: Ranked, b: Ranked): number =>
  rankOf(a) - rankOf(b) || a.grantedMs - b.grantedMs || (a.id < b.id ? -1 : Number(a.id > b.id));

const rankOf = ({ source }: Ranked): number => (source === null ? accessSources.length : accessSources.indexOf(source));
