import { accessLevels } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { AskingTurn, ContextualAccess, ContextualKind } from "../values/asked-program.ts";
import type { ContextStore } from "../values/call-context.ts";
import type { StoreId } from "../values/ids.ts";
import type { DecidedStores } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import { inTime } from "../values/turns.ts";
import type { Access } from "./grants.ts";

/** Whose call it is, and how long the program may take to answer. */
export interface VouchedCall {
  readonly userId: string;
  /** Those that the context names. */
  readonly stores: readonly ContextStore[];
  /** In messages. */
  readonly action: string;
  readonly turn: AskingTurn;
}

/** What the program has said of a store. */
interface Answer {
  readonly access: Access | null;
  /** When, on the clock of `performance.now()`. */
  readonly atMs: number;
  /** Whether it was asked again. */
  readonly isSecond: boolean;
}

/** How long an answer counts. */
const answerMs = 5_000;

/**
 * What the embedding program vouches for in one call. Decisions take the answers that are here: whoever decides asks
 * before, so that nobody waits for the program with the locks of others.
 */
export class Vouching {
  readonly #call: VouchedCall;
  readonly #named: ReadonlyMap<StoreId, Access>;
  readonly #ask: ContextualAccess | null;
  readonly #answers = new Map<StoreId, Answer>();
  readonly #lacking = new Set<StoreId>();

  /** With `ask`, the stores of the context are only suggestions: each counts as long as `ask` agrees. */
  constructor(call: VouchedCall, ask: ContextualAccess | null) {
    const named = call.stores.map(
      ({ id, kind, level = "readwrite" }) => [id as StoreId, { source: kind, level }] as const,
    );
    this.#call = call;
    this.#named = new Map(named);
    this.#ask = ask;
    if (ask !== null) return;
    for (const [id, access] of named) this.#answers.set(id, { access, atMs: Infinity, isSecond: true });
  }

  /** The stores that the context names. */
  get named(): readonly StoreId[] {
    return [...this.#named.keys()];
  }

  /** What is vouched for, as far as that is known. */
  get known(): { readonly id: StoreId; readonly level: AccessLevel }[] {
    const all = Array.from(this.#answers);
    return all.flatMap(([id, { access }]) => (access === null ? [] : [{ id, level: access.level }]));
  }

  /** Whether a decision lacks an answer that counts. */
  get isLacking(): boolean {
    return this.#lacking.size > 0;
  }

  /** What the program has answered last. `null` if there is no answer that counts: then `askLacking` gets it. */
  of(id: StoreId): Access | null {
    const answer = this.#answers.get(id);
    if (answer !== undefined && performance.now() - answer.atMs <= answerMs) return answer.access;
    if (this.#ask !== null) this.#lacking.add(id);
    return null;
  }

  /**
   * Whether the program was asked again about the stores that a call reaches by its word. Before that, nothing is committed;
   * `askLacking` asks.
   */
  isAskedAgain(decided: DecidedStores): boolean {
    for (const id of vouchedIn(decided)) if (this.#answers.get(id)?.isSecond !== true) this.#lacking.add(id);
    return !this.isLacking;
  }

  /** Asks what decisions lack. For calls that hold no locks. Throws `BUSY` if the program takes longer than the call may wait. */
  async askLacking(): Promise<void> {
    const lacking = [...this.#lacking];
    await this.#askAll(lacking);
    for (const id of lacking) this.#lacking.delete(id);
  }

  /** Asks again. Returns whether the program vouches for the same stores. For calls that hold no locks. Throws as `askLacking`. */
  async isStill(decided: DecidedStores): Promise<boolean> {
    const ids = vouchedIn(decided);
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
      this.#answers.set(id, { access: answers[at] ?? null, atMs, isSecond: this.#answers.has(id) });
    }
  }

  async #askOne(id: StoreId): Promise<Access | null> {
    const told = await this.#ask?.(id, { userId: this.#call.userId });
    if (told === null) return null;
    const access = checked(told);
    const named = this.#named.get(id);
    return named === undefined || lowerLevel(named.level, access.level) !== named.level ? access : named;
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

const vouchedIn = ({ stores }: DecidedStores): StoreId[] =>
  stores.filter(({ source }) => source === "chat" || source === "user").map(({ id }) => id);

export const lowerLevel = (a: AccessLevel, b: AccessLevel): AccessLevel =>
  accessLevels.indexOf(a) <= accessLevels.indexOf(b) ? a : b;
