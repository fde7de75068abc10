/** Decides which stores a call reaches: on every request, from the caller's identity, the grants and the program. */
import { sharingLimits } from "../../shared/limits.ts";
import { accessLevels, accessSources } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { isLive } from "../store/grant-hints.ts";
import type { HeldHomes } from "../store/held-homes.ts";
import { storeHome } from "../store/home.ts";
import type { ActingPrincipal, Home } from "../store/home.ts";
import type { Store } from "../store/store.ts";
import type { AskingTurn, ContextualAccess, ContextualKind } from "../values/asked-program.ts";
import type { CheckedContext } from "../values/call-context.ts";
import { ownStoreOf } from "../values/ids.ts";
import type { StoreId } from "../values/ids.ts";
import type { DecidedStore, DecidedStores, StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import { inTime } from "../values/turns.ts";
import { canAccess, grantsIn } from "./grants.ts";
import type { Access } from "./grants.ts";

/** Whose call it is, which stores its context names, and how long the program may take to answer. */
interface QuestionedCall extends Pick<CheckedContext, "userId" | "stores"> {
  /** In messages. */
  readonly action: string;
  readonly turn: AskingTurn;
}

interface DecidingParts {
  readonly store: Store;
  readonly clock: () => number;
  /** The program's; `null` if there is none. */
  readonly contextualAccess: ContextualAccess | null;
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

const fewStores = 16;

/**
 * The stores that a call may have to do with. Grows as its guest asks for more; nothing else is ever opened. Decisions take
 * what the program has said: whoever decides asks before, so that nobody waits for the program with the locks of others.
 */
export class StoresInQuestion {
  readonly #call: QuestionedCall;
  readonly #parts: DecidingParts;
  /** The caller's own store. */
  readonly #principal: StoreId;
  /** What the context names. If the program is asked, it only suggests: each counts as long as the program agrees. */
  readonly #named: ReadonlyMap<StoreId, Access>;
  readonly #answers = new Map<StoreId, Answer>();
  /** Those about which a decision lacks an answer that counts. */
  readonly #lacking = new Set<StoreId>();
  /** Those about which a decision needs their grants, or that the call reaches. */
  readonly #held: Set<StoreId>;
  /** Those that the caller certainly does not reach. They are never opened. */
  readonly #denied = new Set<StoreId>();
  /** Those of the held ones that the caller may not change. */
  #onlyRead: ReadonlySet<StoreId> = new Set();
  #isComplete = false;

  constructor(call: QuestionedCall, parts: DecidingParts) {
    this.#call = call;
    this.#parts = parts;
    this.#principal = ownStoreOf(call.userId);
    this.#held = new Set([this.#principal]);
    const named = call.stores.map(
      ({ id, kind, level = "readwrite" }) => [id as StoreId, { source: kind, level }] as const,
    );
    this.#named = new Map(named);
    if (parts.contextualAccess !== null) return;
    for (const [id, access] of named) this.#answers.set(id, { access, atMs: Infinity, isSecond: true });
  }

  /** The stores to hold while the guest runs. */
  get homes(): readonly Home[] {
    return Array.from(this.#held, storeHome);
  }

  /** For whom they are held. */
  get as(): ActingPrincipal {
    const vouched = Array.from(this.#held).flatMap((id) => {
      const level = this.#answers.get(id)?.access?.level;
      return level === undefined ? [] : [{ id, level }];
    });
    return { principal: this.#principal, vouched };
  }

  /** Those of them that need no lock, as `survey` has found. */
  get onlyRead(): readonly Home[] {
    return Array.from(this.#onlyRead, storeHome);
  }

  /**
   * Adds the stores that the user is known to reach, if they are few: to decide about one takes 0.1 ms, another run of
   * the guest 2 ms. For calls that hold no locks.
   */
  async addFew(): Promise<void> {
    const { listed } = await this.#known();
    if (listed.length <= fewStores) this.#putAll(listed);
  }

  /** Adds what a guest has asked for. */
  async add({ stores, isAll }: { readonly stores: readonly StoreId[]; readonly isAll: boolean }): Promise<void> {
    const known = await this.#known();
    const isPossible = (id: StoreId): boolean => known.all.has(id) || this.#vouched(id) !== null;
    // Notes what the program must be asked.
    for (const id of stores) isPossible(id);
    await this.askLacking();
    for (const id of stores) this.#put(id, isPossible(id));
    if (isAll) this.#putAll(known.listed);
  }

  /** Finds out which of them need no lock, because the caller may not change them. */
  async survey(held: HeldHomes): Promise<void> {
    this.#onlyRead = new Set();
    const { stores } = await this.decide(held);
    const others = stores.filter(({ id, level }) => this.#held.has(id) && level !== "readwrite");
    this.#onlyRead = new Set(others.map(({ id }) => id));
  }

  /** Decides about all of them. `held` are the stores of `this.homes`. Never waits for the program: see `isLacking`. */
  async decide(held: HeldHomes): Promise<DecidedStores> {
    const principal = this.#principal;
    const nowMs = this.#parts.clock();
    const decided: Ranked[] = Array.from(this.#denied, (id) => ({ id, grantedMs: 0, ...noAccess }));
    let own: readonly StoreGrant[] | null = null;
    for (const id of this.#held) {
      const grants = await grantsOf(held, id);
      if (id === principal) own = grants;
      const vouched = (): Access | null => this.#vouched(id);
      const access = canAccess({ principal, store: id, grants: grants ?? [], vouched, nowMs });
      const grantedMs = grants?.find(({ grantee }) => grantee === principal)?.grantedMs ?? 0;
      decided.push({ id, grantedMs, ...(access === null ? noAccess : this.#bounded(id, access)) });
    }
    const stores = decided.toSorted(inOrder).map(({ id, level, source }) => ({ id, level, source }));
    const live = own?.filter((grant) => isLive(grant, nowMs)) ?? null;
    return { own: principal, stores, isComplete: this.#isComplete, grants: live };
  }

  /** Whether all decisions still hold: time has passed since they were made. */
  async isStill(before: DecidedStores, held: HeldHomes): Promise<boolean> {
    const now = await this.decide(held);
    return before.stores.every(({ id, level }) => now.stores.find((each) => each.id === id)?.level === level);
  }

  /** Whether a decision lacks an answer of the program that counts. */
  get isLacking(): boolean {
    return this.#lacking.size > 0;
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
  askLacking(): Promise<void> {
    return this.#askAll([...this.#lacking]);
  }

  /** Asks again. Returns whether the program vouches for the same stores. For calls that hold no locks. Throws as `askLacking`. */
  async isVouchedStill(decided: DecidedStores): Promise<boolean> {
    const ids = vouchedIn(decided);
    const answers = (): string => JSON.stringify(ids.map((id) => this.#answers.get(id)?.access));
    const before = answers();
    await this.#askAll(ids);
    return answers() === before;
  }

  /** What the program has answered last. `null` if there is no answer that counts: then `askLacking` gets it. */
  #vouched(id: StoreId): Access | null {
    const answer = this.#answers.get(id);
    if (answer !== undefined && performance.now() - answer.atMs <= answerMs) return answer.access;
    if (this.#parts.contextualAccess !== null) this.#lacking.add(id);
    return null;
  }

  async #askAll(ids: readonly StoreId[]): Promise<void> {
    const { contextualAccess } = this.#parts;
    if (contextualAccess === null || ids.length === 0) return;
    const { action, turn, userId } = this.#call;
    const { until, signal } = turn;
    const tooLong = (waitedMs: number): ToolError =>
      new ToolError("BUSY", `Cannot ${action}: contextualAccess took over ${waitedMs} ms`);
    const askOne = async (id: StoreId): Promise<Access | null> =>
      checkedAnswer(await contextualAccess(id, { userId }), this.#named.get(id));
    const answers = await turn.askProgram(() => inTime(Promise.all(ids.map(askOne)), { until, signal, tooLong }), {
      isWaiting: true,
    });
    const atMs = performance.now();
    for (const [at, id] of ids.entries()) {
      this.#answers.set(id, { access: answers[at] ?? null, atMs, isSecond: this.#answers.has(id) });
      this.#lacking.delete(id);
    }
  }

  /** Without its lock, a store cannot be changed, also if the caller was allowed to since. */
  #bounded(id: StoreId, { source, level }: Access): Access {
    return { source, level: this.#onlyRead.has(id) ? lowerLevel(level, "read") : level };
  }

  /** What the context names, and hints of grants. `listed`: without those that the user leaves out. */
  async #known(): Promise<{ readonly all: ReadonlySet<StoreId>; readonly listed: readonly StoreId[] }> {
    const { store, clock } = this.#parts;
    const nowMs = clock();
    const hints = (await store.hintsOf(this.#principal)).filter((hint) => isLive(hint, nowMs));
    const granted = hints.filter(({ isLeft }) => !isLeft);
    const withNamed = (others: typeof hints): Set<StoreId> =>
      new Set([...this.#named.keys(), ...others.map((hint) => hint.store)]);
    return { all: withNamed(hints), listed: [...withNamed(granted)] };
  }

  #putAll(ids: readonly StoreId[]): void {
    for (const id of ids) this.#put(id, true);
    this.#isComplete = true;
  }

  /** The first ones stay: those that the context names, then the oldest grants. */
  #put(id: StoreId, isPossible: boolean): void {
    if (this.#held.has(id)) return;
    const isHeld = isPossible && this.#held.size < sharingLimits.storesMax;
    (isHeld ? this.#held : this.#denied).add(id);
  }
}

/** `null` if they cannot be read: then they open the store to nobody, and cannot be changed. */
async function grantsOf(held: HeldHomes, id: StoreId): Promise<readonly StoreGrant[] | null> {
  try {
    return await grantsIn(held.of(storeHome(id)));
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

const noAccess: { readonly [Key in keyof Access]: null } = { level: null, source: null };

type Ranked = DecidedStore & { readonly grantedMs: number };

/** The caller's own store, those that were granted, the oldest first, then those that the program vouches for. */
const inOrder = (a: Ranked, b: Ranked): number =>
  rankOf(a) - rankOf(b) || a.grantedMs - b.grantedMs || (a.id < b.id ? -1 : Number(a.id > b.id));

const rankOf = ({ source }: Ranked): number => (source === null ? accessSources.length : accessSources.indexOf(source));

/** No more than the context names. Programs without types can return anything. */
function checkedAnswer(told: ContextualKind | null | undefined, named: Access | undefined): Access | null {
  if (told === null) return null;
  const { kind, level = "readwrite" } = (told ?? {}) as Partial<ContextualKind>;
  if ((kind === "chat" || kind === "user") && accessLevels.includes(level)) {
    return named !== undefined && lowerLevel(named.level, level) === named.level ? named : { source: kind, level };
  }
  throw new ToolError(
    "INTERNAL",
    "Cannot decide about a store: contextualAccess returned neither null nor a kind and a level",
  );
}

const vouchedIn = ({ stores }: DecidedStores): StoreId[] =>
  stores.filter(({ source }) => source === "chat" || source === "user").map(({ id }) => id);

const lowerLevel = (a: AccessLevel, b: AccessLevel): AccessLevel =>
  accessLevels.indexOf(a) <= accessLevels.indexOf(b) ? a : b;
