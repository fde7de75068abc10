import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { AskingTurn } from "../values/asking-turn.ts";
import type { ContextStore } from "../values/context-store.ts";
import { inTime } from "../values/in-time.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Access } from "./can-access.ts";

/**
 * Says whether a caller reaches a store without a grant, because it is in a chat or works for a user. Called for each
 * store that a call names or its context has, and again before the call's result counts, so whoever leaves a chat is out
 * at once. An answer counts for one call, and for 5 seconds: a call that has not ended by then asks again. Can be called
 * for several stores at a time.
 *
 * While it answers, the call holds no files, no store, no thread and no connection to a database; only the user's other
 * calls wait. It may call the runtime, also for this user, but for nothing that would ask it about this user again: that
 * is `BUSY` at once.
 *
 * Returns what the caller has to do with the store, or `null`. If it throws or returns anything else, the call fails
 * with `INTERNAL`. If it takes longer than the call may wait (`waitMs`), the call fails with `BUSY`.
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
  readonly turn: AskingTurn;
}

interface Answer {
  readonly access: Access | null;
  /** When it was given, on the clock of `performance.now()`. */
  readonly atMs: number;
}

/** How long an answer counts. */
const answerMs = 5_000;

/**
 * What the embedding program vouches for in one call. Decisions take the answers that are here: whoever decides asks
 * before, so that nobody waits for the program with the locks of others.
 */
export class Vouching {
  readonly #call: VouchedCall;
  readonly #named: ReadonlyMap<string, Access>;
  readonly #ask: ContextualAccess | null;
  readonly #answers = new Map<StoreId, Answer>();
  readonly #lacking = new Set<StoreId>();
  /** Those about which it was asked again. */
  readonly #again = new Set<StoreId>();

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
    if (this.#ask === null) return Array.from(this.#named, ([id, { level }]) => ({ id: id as StoreId, level }));
    return Array.from(this.#answers).flatMap(([id, { access }]) =>
      access === null ? [] : [{ id, level: access.level }],
    );
  }

  /** Whether `of` had no answer about a store that counts. */
  get isLacking(): boolean {
    return this.#lacking.size > 0;
  }

  /** What the program has answered last. `null` if there is no answer that counts: then `askLacking` gets it. */
  of(id: StoreId): Access | null {
    if (this.#ask === null) return this.#named.get(id) ?? null;
    const answer = this.#answers.get(id);
    if (answer !== undefined && performance.now() - answer.atMs <= answerMs) return answer.access;
    this.#lacking.add(id);
    return null;
  }

  /** Whether the program was asked about each of these stores once more since the first time. If not, `askLacking` asks. */
  isAskedAgain(ids: readonly StoreId[]): boolean {
    for (const id of ids) if (this.#ask !== null && !this.#again.has(id)) this.#lacking.add(id);
    return !this.isLacking;
  }

  /** Asks about what `of` had no answer to. Throws `BUSY` if the program takes longer than the call may wait. */
  async askLacking(): Promise<void> {
    const lacking = [...this.#lacking];
    await this.#askAll(lacking);
    for (const id of lacking) this.#lacking.delete(id);
  }

  /** Asks once more. Returns whether the answers are the same. Throws as `askLacking`. */
  async isStill(ids: readonly StoreId[]): Promise<boolean> {
    const answers = (): string => JSON.stringify(ids.map((id) => this.#answers.get(id)?.access));
    const before = answers();
    await this.#askAll(ids);
    return answers() === before;
  }

  async #askAll(ids: readonly StoreId[]): Promise<void> {
    const { action, turn } = this.#call;
    if (this.#ask === null || ids.length === 0) return;
    const tooLong = (waitedMs: number): ToolError =>
      new ToolError("BUSY", `Cannot ${action}: contextualAccess took over ${waitedMs} ms`);
    const { until, signal } = turn;
    const answers = await turn.askProgram(
      () => inTime(Promise.all(ids.map((id) => this.#askOne(id))), { until, signal, tooLong }),
      { isWaiting: true },
    );
    const atMs = performance.now();
    for (const [at, id] of ids.entries()) {
      if (this.#answers.has(id)) this.#again.add(id);
      this.#answers.set(id, { access: answers[at] ?? null, atMs });
    }
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
