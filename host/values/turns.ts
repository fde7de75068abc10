/**
 * Who works when. Long work is done in pieces, and gives others a turn of the event loop between two of them: all users are
 * served by one thread. Work waits for a slot, for a user's turn or for an answer, as long as its patience says.
 */
import type { ToolError } from "./tool-error.ts";

/** Work that can be interrupted at each `yield`, which takes some milliseconds at most from one to the next. */
export type Pieces<Result> = Generator<void, Result, void>;

/** So long may all work together hold a turn before it gives others one. A piece comes on top. */
const turnMs = 10;

/** The same of work for which nobody waits: a call, which takes several turns, is hardly later for it. */
export const besideMs = 1;

/** When the present turn began, on the clock of `performance.now()`; `null` if nobody has asked in it. */
let beganMs: number | null = null;

/** Those who wait for a turn. Each gets one of its own, in order: so many do not hold the loop longer than one. */
const forTurn: (() => void)[] = [];

/**
 * Ends the present turn if it has taken long. Costs nothing otherwise, so it can be asked before each of many small
 * pieces. What is awaited in between, such as a promise that is resolved, ends no turn.
 */
export function giveTurn(longestMs = turnMs): Promise<void> | undefined {
  if (beganMs === null) beginTurn();
  else if (performance.now() - beganMs >= longestMs) return new Promise((resolve) => void forTurn.push(resolve));
  return undefined;
}

function beginTurn(): void {
  beganMs = performance.now();
  setImmediate(endTurn);
}

function endTurn(): void {
  beganMs = null;
  const next = forTurn.shift();
  if (next === undefined) return;
  beginTurn();
  next();
}

/** Does work in pieces, with turns between them. */
export async function inTurns<Result>(work: Pieces<Result>, longestMs = turnMs): Promise<Result> {
  try {
    for (;;) {
      const turn = giveTurn(longestMs);
      // To wait for nothing would take longer than a small piece.
      if (turn !== undefined) await turn;
      const { done, value } = work.next();
      if (done) return value;
    }
  } finally {
    // Closes what it has open, if it was not finished.
    work.return(undefined as Result);
  }
}

/** Does the same at once: in a thread of its own, or at the end of the process. */
export function atOnce<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Sorts as `toSorted`: many items in pieces, of which two after two are put together. */
export function* sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Pieces<Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += runItems) {
    runs.push(items.slice(at, at + runItems).toSorted(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

const runItems = 1_024;

/** Of two that compare as equal, the one of `left` comes first. */
function* merge<Item>(left: Item[], right: Item[], compare: (a: Item, b: Item) => number): Pieces<Item[]> {
  const merged: Item[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    const [ofLeft, ofRight] = [left[l] as Item, right[r] as Item];
    if (compare(ofLeft, ofRight) <= 0) {
      merged.push(ofLeft);
      l++;
    } else {
      merged.push(ofRight);
      r++;
    }
    if (merged.length % runItems === 0) yield;
  }
  return merged.concat(left.slice(l), right.slice(r));
}

/** How long a call waits, and what ends the wait early. */
export interface Patience {
  /** When the wait ends, on the clock of `performance.now()`. */
  readonly until: number;
  /** Its reason is the error that the wait throws. */
  readonly signal?: EndSignal | undefined;
  /** Returns the error that the wait throws when it was too long. */
  readonly tooLong: (waitedMs: number) => ToolError;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** A number of slots, given out in the order of requests. */
export class Slots {
  #free: number;
  /** The waiting callers in order. A set, so that any of them can leave quickly. */
  readonly #line = new Set<Waiting>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when the caller has a slot. The caller must give it back. */
  take({ until, signal, tooLong }: Patience): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waitMs = Math.max(0, until - performance.now());
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        this.#line.delete(waiting);
      };
      const start = (): void => {
        leave();
        resolve();
      };
      const refuse = (reason: unknown): void => {
        leave();
        reject(reason);
      };
      const waiting = { start, refuse };
      const cancel = (): void => refuse(signal?.reason);
      const timer = setTimeout(() => refuse(tooLong(Math.ceil(waitMs))), waitMs);
      signal?.addEventListener("abort", cancel);
      this.#line.add(waiting);
    });
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Ends the wait of all callers with an error. */
  refuse(error: ToolError): void {
    for (const waiting of this.#line) waiting.refuse(error);
  }

  /** Passes the slot to the caller that has waited longest. Returns `false` if nobody waits. */
  give(): boolean {
    const [next] = this.#line;
    if (next) next.start();
    else this.#free++;
    return next !== undefined;
  }
}

/** Calls of one user run one at a time, in the order they came; calls of different users do not wait for each other. */
export class UserQueue {
  /** The one slot of each user with a running or waiting call. */
  readonly #turns = new Map<string, Slots>();

  /** Does the work when its turn has come. */
  async run<Result>(userId: string, patience: Patience, work: () => Promise<Result>): Promise<Result> {
    patience.signal?.throwIfAborted();
    const turn = this.#turns.get(userId) ?? new Slots(1);
    this.#turns.set(userId, turn);
    await turn.take(patience);
    try {
      return await work();
    } finally {
      if (!turn.give()) this.#turns.delete(userId);
    }
  }

  /** Waits for one turn after another, in the order given, and then does the work. */
  async runAll<Result>(
    [first, ...others]: readonly string[],
    patience: Patience,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (first === undefined) return await work();
    return await this.run(first, patience, () => this.runAll(others, patience, work));
  }
}

/** Ends a wait or a piece of work early. Every `AbortSignal` is one. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * What ends one piece of work early: an `AbortController` and its signal in one. Nearly no call is ended early, and a
 * controller of Node's for each would cost it 9 µs.
 */
export class CallEnding implements EndSignal {
  #isAborted = false;
  #reason: unknown;
  #listeners: Set<() => void> | null = null;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (!this.#isAborted) (this.#listeners ??= new Set()).add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  /** Calls the listeners, in the order in which they came. Only the first reason counts. */
  abort(reason?: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    const listeners = this.#listeners ?? [];
    this.#listeners = null;
    for (const listener of listeners) listener();
  }
}

/**
 * Adds one listener to each caller's signal: a program can use one signal for thousands of calls, and Node prints a
 * warning for the eleventh listener.
 */
export class CallerSignals {
  readonly #cancels = new Map<EventTarget | null, Set<() => void>>();
  readonly #onAbort = ({ target }: Event): void => {
    for (const cancel of this.#cancels.get(target) ?? []) cancel();
  };

  /** Returns a function to call when the call has ended. */
  add(signal: AbortSignal, cancel: () => void): () => void {
    const cancels = this.#cancels.get(signal) ?? new Set();
    if (cancels.size === 0) signal.addEventListener("abort", this.#onAbort);
    this.#cancels.set(signal, cancels.add(cancel));
    return () => {
      cancels.delete(cancel);
      if (cancels.size > 0) return;
      signal.removeEventListener("abort", this.#onAbort);
      this.#cancels.delete(signal);
    };
  }
}

/**
 * Waits for an answer that can take forever. Rejects with what the patience says when the time is over or the signal is
 * aborted; the answer then counts no more.
 */
export async function inTime<Answer>(answer: Promise<Answer>, { until, signal, tooLong }: Patience): Promise<Answer> {
  const waitMs = Math.max(0, Math.ceil(until - performance.now()));
  return await new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
    const giveUp = (reason: unknown): void => {
      leave();
      reject(reason);
    };
    const timer = setTimeout(() => giveUp(tooLong(waitMs)), waitMs);
    const cancel = (): void => giveUp(signal?.reason);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    answer.finally(leave).then(resolve, reject);
  });
}
