/** `runtime.stores(ctx)`: the shared stores of one user, for programs. */
import type { Role } from "../../shared/roles.ts";
import { ownStoreName } from "../../shared/shared-scope.ts";
import type { CallRunner } from "../call/call-runner.ts";
import type { LoadedTools } from "../plugins/loaded-tools.ts";
import { unknownRole } from "../plugins/loaded-tools.ts";
import type { ContextualAccess } from "../sharing/vouching.ts";
import { operate } from "../upkeep/operation.ts";
import type { Operation, OperationName, UpkeepParts } from "../upkeep/operation.ts";
import { grantAccess, leaveStore, listGrants, listStores, revokeAccess } from "../upkeep/user-stores.ts";
import type { GrantedAccess, NewGrant, ReachableStore } from "../upkeep/user-stores.ts";
import type { CallContext } from "../values/call-context.ts";
import { refuseOthers } from "../values/known-fields.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import { storeOfName } from "../values/store-id.ts";

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
 * all.
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

export interface UserStoresParts extends UpkeepParts {
  readonly runner: CallRunner;
  readonly tools: LoadedTools;
  readonly contextualAccess: ContextualAccess | null;
}

export class LocalUserStores implements UserStores {
  readonly #parts: UserStoresParts;
  readonly #ctx: CallContext;

  constructor(parts: UserStoresParts, ctx: CallContext) {
    this.#parts = parts;
    this.#ctx = ctx;
  }

  list(): Promise<readonly ReachableStore[]> {
    return this.#operate(["listStores", "list the stores"], (operation) =>
      listStores(operation, this.#parts.contextualAccess),
    );
  }

  grants(): Promise<readonly GrantedAccess[]> {
    return this.#operate(["listGrants", "list the grants"], listGrants);
  }

  grant(to: string, grant: NewGrant = {}): Promise<void> {
    return this.#operate(["grant", "grant access"], (operation) => grantAccess(operation, to, grant));
  }

  revoke(from: string): Promise<boolean> {
    return this.#operate(["revoke", "revoke access"], (operation) => revokeAccess(operation, from));
  }

  async clear(creator: string): Promise<number> {
    const { trashed } = await this.#ask("clear", { creator: storeOfName(creator) ?? creator });
    return trashed;
  }

  leave(store: string): Promise<boolean> {
    return this.#operate(["leaveStore", "leave a store"], (operation) => leaveStore(operation, store, true));
  }

  rejoin(store: string): Promise<boolean> {
    return this.#operate(["rejoinStore", "rejoin a store"], (operation) => leaveStore(operation, store, false));
  }

  async getInternal(store: string | null, key: string, entry: InternalEntry = {}): Promise<unknown> {
    refuseOthers("get a value", entry, ["namespace"]);
    const { namespace } = entry;
    const { value } = await this.#ask("get", { ...(store !== null && { store }), key, namespace });
    return value;
  }

  async setInternal(store: string | null, key: string, value: unknown, flags: InternalFlags = {}): Promise<void> {
    refuseOthers("set a value", flags, ["namespace", "encrypted", "ttl"]);
    const { namespace, encrypted, ttl } = flags;
    await this.#ask("set", { ...(store !== null && { store }), key, value, namespace, encrypted, ttl });
  }

  #operate<Result>(name: OperationName, work: (operation: Operation) => Promise<Result>): Promise<Result> {
    return operate(this.#parts, name, this.#ctx, work);
  }

  async #ask<Of extends Role>(role: Of, input: RoleInput<Of>): Promise<RoleOutput<Of>> {
    const { admission, tools, runner } = this.#parts;
    const [found] = tools.withRole(role);
    const toolName = found?.tool.name ?? null;
    const action = found === undefined ? "use a store" : `call ${found.tool.name}`;
    const find = (): NonNullable<typeof found> => {
      admission.checkOpen(action);
      if (found === undefined) throw unknownRole(action, role, { hint: tools.notLoaded.hintForScope(ownStoreName) });
      return found;
    };
    const asked = { toolName, action, find, caller: "host" as const, input, ctx: this.#ctx };
    return roleAnswer(role, toolName ?? "", (await runner.call(asked)).result);
  }
}
