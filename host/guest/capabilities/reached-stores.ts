/** Shared stores for one call: which of them the guest's requests reach, and the grants that it changes. */
import { levelFor } from "../../../shared/abi.ts";
import type { CapabilityReply, CapabilityRequest, ReachedStore, Right, StoreCapability } from "../../../shared/abi.ts";
import { sharingLimits } from "../../../shared/limits.ts";
import { isEnough, ownStoreScope, scopeOfStore } from "../../../shared/shared-scope.ts";
import { quoted } from "../../../shared/text.ts";
import { isStoreId, storeOfScope } from "../../values/ids.ts";
import type { StoreId } from "../../values/ids.ts";
import type { DecidedStore, DecidedStores, StoreGrant } from "../../values/store-grant.ts";
import { ToolError } from "../../values/tool-error.ts";

/** What the guest needs to know before the host can give it an answer: the call is run again. */
export interface Wanted {
  readonly stores: readonly StoreId[];
  /** All stores that the user reaches. */
  readonly isAll: boolean;
}

/** The host has not decided about a store yet. The guest's answer will not be used. */
export class Undecided extends ToolError {
  constructor() {
    super("BUSY", "Cannot answer yet: the call will be run again");
  }
}

export class ReachedStores {
  readonly #decided: DecidedStores;
  readonly #byId: ReadonlyMap<string, DecidedStore>;
  readonly #nowMs: number;
  readonly #wanted = new Set<StoreId>();
  #wantsAll = false;
  #grants: StoreGrant[] | null = null;

  constructor(decided: DecidedStores, nowMs: number) {
    this.#decided = decided;
    this.#byId = new Map(decided.stores.map((each) => [each.id, each]));
    this.#nowMs = nowMs;
  }

  get wanted(): Wanted | null {
    return this.#wanted.size > 0 || this.#wantsAll ? { stores: [...this.#wanted], isAll: this.#wantsAll } : null;
  }

  /** The new grants of the user's own store; `null` if the guest has not changed them. */
  get grants(): readonly StoreGrant[] | null {
    return this.#grants;
  }

  /** The store's scope under its id. Throws `CAPABILITY_DENIED` unless the user reaches it with the level needed. */
  scopeFor(capability: StoreCapability, scope: string, rights: readonly Right[]): string {
    const { id, level } = this.#storeAt(scope);
    if (isEnough(level, levelFor(capability, rights))) return scopeOfStore(id);
    throw noAccess(scope);
  }

  list({ scope }: CapabilityRequest<"grant_list">): CapabilityReply<"grant_list"> {
    if (scope === undefined) {
      if (!this.#decided.isComplete) {
        this.#wantsAll = true;
        throw new Undecided();
      }
      const reached = this.#decided.stores.filter(({ level }) => level !== null);
      return { ok: true, stores: reached.map(shown) };
    }
    const found = this.#storeAt(scope);
    // The owner still has a store whose grants cannot be read.
    const grants = found.source === "self" ? (this.#grants ?? this.#decided.grants) : null;
    return { ok: true, stores: [shown(found)], ...(grants && { grants: [...grants] }) };
  }

  set(asked: CapabilityRequest<"grant_set">): CapabilityReply<"grant_set"> {
    const { scope, level, expiresMs = null } = asked;
    if (this.#storeAt(scope).source !== "self") throw noAccess(scope);
    const { grantee } = asked;
    if (!isStoreId(grantee) || grantee === this.#decided.own)
      throw refused(`grantee ${quoted(asked.grantee)} is not another user's store`);
    if (expiresMs !== null && expiresMs <= this.#nowMs)
      throw refused(`it would expire at ${expiresMs}, which has passed`);
    const before = this.#present().find((each) => each.grantee === grantee) ?? null;
    const others = this.#present().filter((each) => each !== before);
    const { grantsMax } = sharingLimits;
    if (level !== null && others.length >= grantsMax) {
      throw new ToolError(
        "QUOTA_EXCEEDED",
        `Cannot grant access: the store has ${others.length} grants, at most ${grantsMax} allowed`,
      );
    }
    const granted = level && { grantee, level, grantedMs: this.#nowMs, expiresMs };
    this.#grants = granted ? [...others, granted] : others;
    return { ok: true, before: before?.level ?? null };
  }

  /** Throws `Undecided` for a store about which the host has not decided. */
  #storeAt(scope: string): DecidedStore {
    const id = scope === ownStoreScope ? this.#decided.own : storeOfScope(scope);
    if (id === null) throw noAccess(scope);
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    if (this.#byId.size + this.#wanted.size >= sharingLimits.storesMax) throw noAccess(scope);
    this.#wanted.add(id);
    throw new Undecided();
  }

  #present(): StoreGrant[] {
    const present = this.#grants ?? this.#decided.grants;
    if (present !== null) return [...present];
    throw new ToolError("STORAGE_UNSAFE", "Cannot use the grants of the store: their file is not what a host writes");
  }
}

const shown = ({ id, level, source }: DecidedStore): ReachedStore => ({ store: id, level, source });

/** The same for a store that does not exist, one that the user does not reach, and a scope that is none. */
const noAccess = (scope: string): ToolError =>
  new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: this call has no access to it`);

const refused = (reason: string): ToolError => new ToolError("CAPABILITY_DENIED", `Cannot grant access: ${reason}`);
