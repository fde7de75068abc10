import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { EndSignal } from "../values/call-ending.ts";
import type { ContextStore } from "../values/context-store.ts";
import { inTime } from "../values/in-time.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Access } from "./can-access.ts";

/**
 * Says whether a caller reaches a store without a grant, because it is in a chat or works for a user. Called for each
 * store that a call names or its context has, and again before the call's result counts, so whoever leaves a chat is out
 * at once. Can be called for several stores at a time.
 *
 * Returns what the caller has to do with the store, or `null`. If it throws or returns anything else, the call fails
 * with `INTERNAL`. If it takes longer than the call may wait (`waitMs`), or the second time over a second, the call
 * fails with `BUSY`.
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

/** Whose call it is, and how long the program may take to answer. */
export interface VouchedCall {
  readonly userId: string;
  /** Those that the context names. */
  readonly stores: readonly ContextStore[];
  /** In messages. */
  readonly action: string;
  readonly until: number;
  readonly signal: EndSignal | undefined;
}

/** How long the program may take to answer while stores are locked. */
const lockedMs = 1_000;

/**
 * What the embedding program vouches for in one call. Decisions take the answers that are here: whoever decides asks
 * before, so that nobody waits for the program with the locks of others.
 */
export class Vouching {
  readonly #call: VouchedCall;
  readonly #named: ReadonlyMap<string, Access>;
  readonly #ask: ContextualAccess | null;
  readonly #answers = new Map<StoreId, Access | null>();
  readonly #lacking = new Set<StoreId>();

  /** With `ask`, the stores of the context are only suggestions: each counts as long as `ask` agrees. */
  constructor(call: VouchedCall, ask: ContextualAccess | null) {
    this.#call = call;
    this.#named = new Map(call.stores.map(({ id, kind, level = "readwrite" }) => [id, { source: kind, level }]));
    this.#ask = ask;
  }

  /** The stores that the context names. */
  get named(): readonly StoreId[] {
    return Array.from(this.#named.keys(), (id) => id as StoreId);
  }

  /** What is vouched for, as far as that is known. */
  get known(): { readonly id: StoreId; readonly level: AccessLevel }[] {
    const all: ReadonlyMap<string, Access | null> = this.#ask === null ? this.#named : this.#answers;
    return Array.from(all).flatMap(([id, access]) =>
      access === null ? [] : [{ id: id as StoreId, level: access.level }],
    );
  }

  /** Whether `of` had no answer about a store. */
  get isLacking(): boolean {
    return this.#lacking.size > 0;
  }

  /** What the program has answered last. `null` if there is no answer yet: then `askLacking` gets it. */
  of(id: StoreId): Access | null {
    if (this.#ask === null) return this.#named.get(id) ?? null;
    const answer = this.#answers.get(id);
    if (answer === undefined) this.#lacking.add(id);
    return answer ?? null;
  }

  /** Asks about what `of` had no answer to. Throws `BUSY` if the program takes longer than the call may wait. */
  async askLacking(): Promise<void> {
    const lacking = [...this.#lacking];
    await this.#askAll(lacking, this.#call.until);
    for (const id of lacking) this.#lacking.delete(id);
  }

  /** Asks once more, under locks. Throws `BUSY` if the program takes over a second. */
  async askAgain(ids: readonly StoreId[]): Promise<void> {
    await this.#askAll(ids, performance.now() + lockedMs);
  }

  async #askAll(ids: readonly StoreId[], until: number): Promise<void> {
    const { action, signal } = this.#call;
    if (this.#ask === null || ids.length === 0) return;
    const tooLong = (waitedMs: number): ToolError =>
      new ToolError("BUSY", `Cannot ${action}: contextualAccess took over ${waitedMs} ms`);
    const asking = Promise.all(ids.map(async (id) => [id, await this.#askOne(id)] as const));
    for (const [id, answer] of await inTime(asking, { until, signal, tooLong })) this.#answers.set(id, answer);
  }

  async #askOne(id: StoreId): Promise<Access | null> {
    const told = await this.#ask?.(id, { userId: this.#call.userId });
    if (told === null) return null;
    const access = checked(told);
    const named = this.#named.get(id);
    return named === undefined ? access : lower(named, access);
  }
}

/** Programs without types can return anything. */
function checked(told: ContextualKind | undefined): Access {
  const { kind, level = "readwrite" } = (told ?? {}) as Partial<ContextualKind>;
  if ((kind === "chat" || kind === "user") && accessLevels.includes(level)) return { source: kind, level };
  throw new ToolError(
    "INTERNAL",
    "Cannot decide about a store: contextualAccess returned neither null nor a kind and a level",
  );
}

const lower = (a: Access, b: Access): Access => (lowerLevel(a.level, b.level) === a.level ? a : b);

export const lowerLevel = (a: AccessLevel, b: AccessLevel): AccessLevel =>
  accessLevels.indexOf(a) <= accessLevels.indexOf(b) ? a : b;
