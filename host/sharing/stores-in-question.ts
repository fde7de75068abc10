/** Decides which stores a call reaches: on every request, from the caller's identity, the grants and the program. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessSources } from "../../shared/shared-scope.ts";
import { grantsPath, grantsScope } from "../store/shared-stores.ts";
import type { HeldStores, SharedStores } from "../store/shared-stores.ts";
import type { DecidedStore, DecidedStores } from "../values/decided-stores.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import { canAccess, isLive } from "./can-access.ts";
import type { Access } from "./can-access.ts";
import { readGrants } from "./grants-file.ts";
import type { Vouching } from "./vouching.ts";

export interface Deciding {
  /** The caller's own store. */
  readonly principal: StoreId;
  readonly vouching: Vouching;
  readonly shared: SharedStores;
  readonly clock: () => number;
}

const fewStores = 16;

/** The stores that a call may have to do with. Grows as its guest asks for more; nothing else is ever opened. */
export class StoresInQuestion {
  readonly #deciding: Deciding;
  /** Those about which a decision needs their grants, or that the call reaches. */
  readonly #held: Set<StoreId>;
  /** Those that the caller certainly does not reach. They are never opened. */
  readonly #denied = new Set<StoreId>();
  #isComplete = false;

  constructor(deciding: Deciding) {
    this.#deciding = deciding;
    this.#held = new Set([deciding.principal]);
  }

  /** The stores to hold while the guest runs. */
  get held(): readonly StoreId[] {
    return [...this.#held];
  }

  /**
   * Adds the stores that the user is known to reach, if they are few: to decide about one takes 0.1 ms, another run of
   * the guest 2 ms. For calls that hold no locks.
   */
  async addFew(): Promise<void> {
    const known = await this.#known();
    if (known.size > fewStores) return;
    for (const id of known) this.#put(id, true);
    this.#isComplete = true;
  }

  /** Adds what a guest has asked for. */
  async add({ stores, isAll }: { readonly stores: readonly StoreId[]; readonly isAll: boolean }): Promise<void> {
    const known = await this.#known();
    for (const id of stores) {
      const isPossible = known.has(id) || (await this.#deciding.vouching.for(id)) !== null;
      this.#put(id, isPossible);
    }
    if (isAll) for (const id of known) this.#put(id, true);
    this.#isComplete ||= isAll;
  }

  /** Decides about all of them. `held` are the stores of `this.held`. */
  async decide(held: HeldStores): Promise<DecidedStores> {
    const { principal, clock } = this.#deciding;
    const nowMs = clock();
    const decided: Ranked[] = [];
    let own: readonly StoreGrant[] | null = null;
    for (const id of this.#held) {
      const grants = await grantsOf(held, id);
      if (id === principal) own = grants;
      const vouched = (): Promise<Access | null> => this.#deciding.vouching.for(id);
      const access = await canAccess({ principal, store: id, grants: grants ?? [], vouched, nowMs });
      const grantedMs = grants?.find(({ grantee }) => grantee === principal)?.grantedMs ?? 0;
      decided.push({ id, grantedMs, ...(access ?? noAccess) });
    }
    for (const id of this.#denied) decided.push({ id, grantedMs: 0, ...noAccess });
    const stores = decided.toSorted(inOrder).map(({ id, level, source }) => ({ id, level, source }));
    const live = own?.filter((grant) => isLive(grant, nowMs)) ?? null;
    return { own: principal, stores, isComplete: this.#isComplete, grants: live };
  }

  /** Whether all decisions still hold: time has passed since they were made, and the program may vouch no more. */
  async isStill(before: DecidedStores, held: HeldStores): Promise<boolean> {
    const now = await this.decide(held);
    return before.stores.every(({ id, level }) => now.stores.find((each) => each.id === id)?.level === level);
  }

  /** Hints of grants, and what the context names. */
  async #known(): Promise<Set<StoreId>> {
    const { principal, shared, vouching } = this.#deciding;
    return new Set([...(await shared.grantedTo(principal)), ...vouching.named]);
  }

  #put(id: StoreId, isPossible: boolean): void {
    if (this.#held.has(id)) return;
    const isHeld = isPossible && this.#held.size < sharingLimits.storesMax;
    (isHeld ? this.#held : this.#denied).add(id);
  }
}

/** `null` if they cannot be read: then they open the store to nobody, and cannot be changed. */
async function grantsOf(held: HeldStores, id: StoreId): Promise<readonly StoreGrant[] | null> {
  try {
    return readGrants(await held.reader(id).bytesOf(grantsScope, grantsPath));
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
