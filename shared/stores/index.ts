/** The public API of `memcell/stores`: values of a program under keys, in the user's own store. */

/** What `runtime.stores(ctx)` has. */
export interface ProgramValues {
  getInternal(store: null, key: string, entry?: KvEntry): Promise<unknown>;
  setInternal(store: null, key: string, value: unknown, flags?: KvFlags): Promise<void>;
}

export interface KvEntry {
  /** Keys of different namespaces never meet. Default: none. */
  readonly namespace?: string | undefined;
}

export interface KvFlags extends KvEntry {
  /** Seconds until the value ends, from 1. Default: never. */
  readonly ttl?: number | undefined;
}

/**
 * The value under a key; `null` if there is none. Also one that models see, if the user has created it with the tool
 * `memory`. Rejects as `getInternal` does.
 *
 * @example
 * await kvGet(runtime.stores({ userId: "alice" }), "theme", { namespace: "app" }); // "dark"
 */
export const kvGet = (stores: ProgramValues, key: string, entry: KvEntry = {}): Promise<unknown> =>
  stores.getInternal(null, key, entry);

/**
 * Sets a value that no model finds, lists or reads: any JSON value of at most 100 KiB. Rejects as `setInternal` does.
 *
 * @example
 * await kvSet(runtime.stores({ userId: "alice" }), "theme", "dark", { namespace: "app", ttl: 3_600 });
 */
export const kvSet = (stores: ProgramValues, key: string, value: unknown, flags: KvFlags = {}): Promise<void> =>
  stores.setInternal(null, key, value, flags);

/**
 * Deletes a value; `false` if there was none, or `null`. From then on the key has `null`, which ends after a second: it
 * does not count among the 1,000 values of a store, and the doctor moves its file to the trash. The value itself stays in
 * the history; one that models saw is in the trash. Two deletions at once can both return `true`. Rejects as
 * `getInternal` and `setInternal` do.
 *
 * @example
 * await kvDelete(runtime.stores({ userId: "alice" }), "theme", { namespace: "app" }); // true
 */
export async function kvDelete(stores: ProgramValues, key: string, entry: KvEntry = {}): Promise<boolean> {
  if ((await kvGet(stores, key, entry)) === null) return false;
  await kvSet(stores, key, null, { ...entry, ttl: 1 });
  return true;
}
