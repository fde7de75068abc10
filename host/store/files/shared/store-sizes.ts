import { scopeOfStore } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { entriesScope } from "../../shared-stores.ts";
import type { UsedBytes } from "../../store.ts";
import type { WalTail } from "../commit/find-records.ts";
import type { KeptSizes } from "../used-bytes.ts";

/** The sizes of held stores' entries, as far as they are known: kept from an earlier call, or measured in this one. */
export class KnownSizes {
  readonly #kept: KeptSizes<StoreId>;
  readonly #known = new Map<StoreId, UsedBytes>();
  readonly #latest = new Map<StoreId, UsedBytes>();

  /** `tailOf` returns a store's WAL as it is now, or `null` if that is not sure. */
  constructor(kept: KeptSizes<StoreId>, ids: readonly StoreId[], tailOf: (id: StoreId) => WalTail | null) {
    this.#kept = kept;
    for (const id of ids) this.#known.set(id, kept.of(id, tailOf(id)));
  }

  /** What was known at first, by scope `store:<uuid>`. */
  get usedBytes(): UsedBytes {
    const known = Array.from(this.#known, ([id, bytes]) => [scopeOfStore(id), bytes[entriesScope]] as const);
    return Object.fromEntries(known.filter((each): each is readonly [string, number] => each[1] !== undefined));
  }

  /** What is known before a commit, by scope inside the store. `measured` is by scope `store:<uuid>`. */
  before(id: StoreId, measured: UsedBytes | undefined): UsedBytes {
    const bytes = measured?.[scopeOfStore(id)];
    if (bytes !== undefined) return { [entriesScope]: bytes };
    return measured === undefined ? (this.#latest.get(id) ?? this.#known.get(id) ?? {}) : {};
  }

  /** Keeps what is known after a commit. */
  keep(id: StoreId, tail: WalTail | null, bytes: UsedBytes): void {
    this.#latest.set(id, bytes);
    this.#kept.keep(id, tail, { bytes, known: this.#known.get(id) ?? {} });
  }
}
