import { scopeOfStore } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import type { KnownSizes, ScopeSize } from "../../scope-size.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { WalTail } from "../commit/find-records.ts";
import type { KeptSizes } from "../kept-sizes.ts";

/** The sizes of held stores' entries, as far as they are known: kept from an earlier call, or measured in this one. */
export class StoreSizes {
  readonly #kept: KeptSizes<StoreId>;
  readonly #known = new Map<StoreId, KnownSizes>();
  readonly #latest = new Map<StoreId, KnownSizes>();

  /** `knownOf` returns what is known of a store's scopes from earlier. */
  constructor(kept: KeptSizes<StoreId>, ids: readonly StoreId[], knownOf: (id: StoreId) => KnownSizes) {
    this.#kept = kept;
    for (const id of ids) this.#known.set(id, knownOf(id));
  }

  /** What was known at first, by scope `store:<uuid>`. */
  get knownSizes(): KnownSizes {
    const known = Array.from(this.#known, ([id, sizes]) => [scopeOfStore(id), sizes[entriesScope] ?? null] as const);
    return Object.fromEntries(known.filter((each): each is readonly [string, Partial<ScopeSize>] => each[1] !== null));
  }

  /** What is known before a commit, by scope inside the store. `measured` is by scope `store:<uuid>`. */
  before(id: StoreId, measured: KnownSizes | undefined): KnownSizes {
    const size = measured?.[scopeOfStore(id)];
    if (size !== undefined) return { [entriesScope]: size };
    return measured === undefined ? (this.#latest.get(id) ?? this.#known.get(id) ?? {}) : {};
  }

  /** Keeps what is known after a commit. */
  keep(id: StoreId, tail: WalTail | null, sizes: KnownSizes): void {
    this.#latest.set(id, sizes);
    this.#kept.keep(id, tail, { sizes, known: this.#known.get(id) ?? {} });
  }
}
