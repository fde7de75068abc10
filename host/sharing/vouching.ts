import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { ContextStore } from "../values/context-store.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Access } from "./can-access.ts";

/**
 * Says whether a caller reaches a store without a grant, because it is in a chat or works for a user. Called for each
 * store of each call, and again before the call's result counts, so whoever leaves a chat is out at once.
 *
 * Returns what the caller has to do with the store, or `null`. If it throws or returns anything else, the call fails
 * with `INTERNAL`.
 *
 * @example
 * const contextualAccess = async (storeId, { userId }) => (await chats.has(storeId, userId)) ? { kind: "chat" } : null;
 */
export type ContextualAccess = (
  storeId: string,
  caller: { readonly userId: string },
) => Promise<ContextualKind | null> | ContextualKind | null;

export interface ContextualKind {
  readonly kind: "chat" | "user";
  /** Default: `readwrite`. */
  readonly level?: AccessLevel | undefined;
}

/** What the embedding program vouches for in one call. */
export class Vouching {
  readonly #userId: string;
  readonly #named: ReadonlyMap<string, Access>;
  readonly #ask: ContextualAccess | null;

  /** With `ask`, the stores of the context are only suggestions: each counts as long as `ask` agrees. */
  constructor(userId: string, stores: readonly ContextStore[], ask: ContextualAccess | null) {
    this.#userId = userId;
    this.#named = new Map(stores.map(({ id, kind, level = "readwrite" }) => [id, { source: kind, level }]));
    this.#ask = ask;
  }

  /** The stores that the context names. */
  get named(): readonly StoreId[] {
    return Array.from(this.#named.keys(), (id) => id as StoreId);
  }

  async for(id: StoreId): Promise<Access | null> {
    const named = this.#named.get(id) ?? null;
    if (this.#ask === null) return named;
    const told = await this.#ask(id, { userId: this.#userId });
    if (told === null) return null;
    const access = checked(told);
    return named === null ? access : lower(named, access);
  }
}

/** Programs without types can return anything. */
function checked(told: ContextualKind): Access {
  const { kind, level = "readwrite" } = (told ?? {}) as Partial<ContextualKind>;
  if ((kind === "chat" || kind === "user") && accessLevels.includes(level)) return { source: kind, level };
  throw new ToolError(
    "INTERNAL",
    "Cannot decide about a store: contextualAccess returned neither null nor a kind and a level",
  );
}

const lower = (a: Access, b: Access): Access =>
  accessLevels.indexOf(a.level) <= accessLevels.indexOf(b.level) ? a : b;
