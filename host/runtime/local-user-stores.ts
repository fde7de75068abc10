/** The stores of one user, by calls of tools with roles and by operations on grants. */
import type { Role } from "../../shared/roles.ts";
import { ownStoreName } from "../../shared/shared-scope.ts";
import type { CallRunner } from "../call/call-runner.ts";
import type { LoadedTools } from "../plugins/loaded-tools.ts";
import { unknownRole } from "../plugins/loaded-tools.ts";
import type { ContextualAccess } from "../sharing/vouching.ts";
import { operate } from "../upkeep/operate.ts";
import type { OperationName } from "../upkeep/operate.ts";
import type { Operation, UpkeepParts } from "../upkeep/operation.ts";
import type { GrantedAccess, NewGrant, ReachableStore } from "../upkeep/store-access.ts";
import { grantAccess, leaveStore, listGrants, listStores, revokeAccess } from "../upkeep/user-stores.ts";
import type { CallContext } from "../values/call-context.ts";
import { refuseOthers } from "../values/known-fields.ts";
import { roleAnswer } from "../values/role-answer.ts";
import type { RoleInput, RoleOutput } from "../values/role-answer.ts";
import { storeOfName } from "../values/store-id.ts";
import type { InternalEntry, InternalFlags, UserStores } from "./user-stores.ts";

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
    refuseOthers("get a value", entry, { namespace: true });
    const { namespace } = entry;
    const { value } = await this.#ask("get", { ...(store !== null && { store }), key, namespace });
    return value;
  }

  async setInternal(store: string | null, key: string, value: unknown, flags: InternalFlags = {}): Promise<void> {
    refuseOthers("set a value", flags, { namespace: true, encrypted: true, ttl: true });
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
