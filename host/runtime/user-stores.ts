/** `runtime.stores(ctx)`: the shared stores of one user, for programs. */
import type { GrantedAccess, NewGrant, ReachableStore } from "../owner/store-access.ts";

export interface InternalEntry {
  /** Entries of different namespaces never meet. Default: none. */
  readonly namespace?: string | undefined;
}

export interface InternalFlags extends InternalEntry {
  /** Whether the value is opaque. Default `false`. */
  readonly encrypted?: boolean | undefined;
  /** Seconds until the entry ends. Default: never. */
  readonly ttl?: number | undefined;
}

/**
 * The shared stores of one user. Each method rejects with a `ToolError`, also where `runtime.call` would return an
 * error: besides the codes that it names, with `USER_INVALID` for `ctx.userId`, and with those of every call, such as
 * `BUSY`, `CANCELLED`, `CLOSED` and `STORAGE_UNSAFE`. `list`, `grants`, `grant`, `revoke`, `leave` and `rejoin` need no
 * plugin; the other methods reject with `TOOL_UNKNOWN` if none that is loaded has their role. The plugin `stores` has
 * all. In a read-only runtime, `grant`, `revoke`, `clear`, `leave` and `rejoin` reject with `READ_ONLY`; `setInternal` has no
 * role there.
 */
export interface UserStores {
  /**
   * Every store that the user reaches, the user's own first, and why: those granted to the user, and those of
   * `ctx.stores`. `contextualAccess` alone adds none.
   *
   * @example
   * await runtime.stores({ userId: "planner" }).list();
   * // [{ id: "6f0c…", level: "readwrite", source: "self" }, { id: "0182…", level: "read", source: "grant" }]
   */
  list(): Promise<readonly ReachableStore[]>;

  /**
   * To whom the user has granted access to the user's own store, without grants that have expired.
   *
   * @example
   * for (const { grantee, level, expiresAt } of await runtime.stores({ userId: "alice" }).grants()) {
   *   console.log(grantee, level, expiresAt?.toISOString() ?? "never ends");
   * }
   */
  grants(): Promise<readonly GrantedAccess[]>;

  /**
   * Grants access to the user's own store, or replaces the grantee's grant. `to` is the id of the grantee's own store, or
   * a user id that is no UUID. A UUID always counts as the id of a store: for a user id that is a UUID of version 8, pass
   * `storeIdOf(userId)`.
   *
   * Rejects with `INPUT_INVALID`, also for a UUID in another spelling and for an unknown option. Rejects with
   * `QUOTA_EXCEEDED` for a 101st grant of the store, and if the grantee has grants of 1,000 other stores.
   *
   * @example
   * await runtime.stores({ userId: "alice" }).grant("planner", { level: "search", expiresAt: tomorrow });
   */
  grant(to: string, grant?: NewGrant): Promise<void>;

  /**
   * Revokes a grant; `false` if there was none. A call of the grantee that has not ended by then has no access. `from`
   * is named as in `grant`. Rejects with `INPUT_INVALID` for the user itself, and for what names no user.
   *
   * @example
   * await runtime.stores({ userId: "alice" }).revoke("planner"); // true
   */
  revoke(from: string): Promise<boolean>;

  /**
   * Moves everything that another user has created in the user's own store to the trash, and returns how many entries
   * that were: only its creator deletes an entry otherwise. `creator` is the id of that user's own store, or a user id
   * that is no UUID. Rejects with `INPUT_INVALID` for the user itself. Revoke the grant first.
   *
   * @example
   * await runtime.stores({ userId: "alice" }).clear("planner"); // 12
   */
  clear(creator: string): Promise<number>;

  /**
   * Leaves a store out that somebody has granted the user: from then on it is in no list of stores, no search of all
   * stores and no index for a prompt. A path that names it still works. It stays left out when its owner replaces the
   * grant, until `rejoin`. Returns `false` if nobody has granted the user this store, or it is left out already. Rejects
   * with `INPUT_INVALID` for what is no id of a store.
   *
   * @example
   * await runtime.stores({ userId: "planner" }).leave(storeIdOf("mallory"));
   */
  leave(store: string): Promise<boolean>;

  /**
   * Takes `leave` back; `false` if the store was not left out. Rejects with `INPUT_INVALID` for what is no id of a store.
   *
   * @example
   * await runtime.stores({ userId: "planner" }).rejoin(storeIdOf("mallory"));
   */
  rejoin(store: string): Promise<boolean>;

  /**
   * The value that the user's programs have set under a key, or that the user has created; `null` if there is none.
   * `store`: an id, or `null` for the user's own. Rejects with `INPUT_INVALID` for a key, store or namespace of a wrong
   * form, and with `ACCESS_DENIED`, a case of `ENTRY_NOT_FOUND`, for a store that the user may not read.
   *
   * @example
   * await runtime.stores({ userId: "alice" }).getInternal(null, "weather-key", { namespace: "weather" }); // "k-123"
   */
  getInternal(store: string | null, key: string, entry?: InternalEntry): Promise<unknown>;

  /**
   * Sets a value that no tool for models finds, lists or names, with all its flags: those of an earlier value do not
   * stay. An entry of the user under the same key that models saw goes to the trash. `value` is any JSON value of at
   * most 100 KiB, `key` has at most 200 characters, a namespace 64.
   *
   * Rejects with `INPUT_INVALID`, also for a value that JSON does not have; with `ACCESS_DENIED`, a case of
   * `ENTRY_NOT_FOUND`, for a store that the user may not change; with `VALUE_TOO_LARGE` or `KEY_LIMIT_REACHED`, cases of
   * `QUOTA_EXCEEDED`, or `QUOTA_EXCEEDED` for a full store; with `ENTRY_UNREADABLE` if a file that is no entry lies in
   * its place.
   *
   * @example
   * const stores = runtime.stores({ userId: "alice" });
   * await stores.setInternal(null, "weather-key", "k-123", { namespace: "weather", encrypted: true, ttl: 3_600 });
   */
  setInternal(store: string | null, key: string, value: unknown, flags?: InternalFlags): Promise<void>;
}
