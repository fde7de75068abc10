/** Admits calls until it is closed: one user's in order, and with bounds for waiting calls and running users. */
import { AsyncLocalStorage } from "node:async_hooks";

import { queueLimits } from "../../shared/limits.ts";
import type { Measures } from "../audit/collect/measures.ts";
import type { AskingTurn } from "../values/asking-turn.ts";
import { CallEnding } from "../values/call-ending.ts";
import { Slots, UserQueue } from "../values/slots.ts";
import type { Patience } from "../values/slots.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import type { WaitingLimits } from "./waiting-calls.ts";

export interface AskedTurn {
  readonly action: string;
  readonly userId: UserId;
  readonly inputBytes: number;
  /** Cancels the call. */
  readonly signal: AbortSignal | undefined;
  /** When it stops waiting. Default: after `waitMs`. */
  readonly until?: number | undefined;
}

/** A call whose turn has come. */
export interface Turn extends AskingTurn {
  /** Reports that the call no longer waits. Calling it twice is harmless. */
  endWait(): void;
}

/**
 * Users about whose calls the program is asked at the same time. Nothing is kept for them but their inputs and what they
 * want to write.
 */
const usersAskedMax = 256;

type RunningTurn = Turn & { until: number };

export class Admission {
  /** How long a call may wait for its turn, the user's lock and a thread together. */
  readonly waitMs: number;
  readonly #waiting: WaitingCalls;
  readonly #measures: Measures;
  readonly #queue = new UserQueue();
  readonly #usersHeld = new Slots(queueLimits.usersHeldMax);
  readonly #usersAsked = new Slots(usersAskedMax);
  readonly #program = new AskedProgram();
  readonly #signals = new CallerSignals();
  readonly #admitted = new Set<CallControl>();
  #underWay = 0;
  #onIdle: () => void = () => {};
  #isClosed = false;
  #isEnding = false;

  constructor(waitMs: number, limits: WaitingLimits, measures: Measures) {
    this.waitMs = waitMs;
    this.#waiting = new WaitingCalls(limits);
    this.#measures = measures;
  }

  /** Does the work when its turn has come. Throws `BUSY` or `CANCELLED`. */
  async run<Result>(asked: AskedTurn, work: (turn: Turn) => Promise<Result>): Promise<Result> {
    const { action, userId, inputBytes: bytes } = asked;
    if (this.#isEnding) throw closedMeanwhile(action);
    using control = new CallControl(action, asked.signal, this.#signals);
    const leaveQueue = this.#waiting.admit({ userId, action, bytes, giveWay: (error) => control.end(error) });
    const counted = this.#measures.admitted();
    const endWait = (): void => {
      leaveQueue();
      counted.begins();
    };
    const place = new Place(this.#usersHeld);
    const { until = performance.now() + this.waitMs } = asked;
    const turn: RunningTurn = {
      until,
      signal: control.signal,
      endWait,
      askProgram: (ask, { isWaiting }) => this.#ask(asked, turn, { place, ask, isWaiting }),
    };
    this.#admitted.add(control);
    try {
      return await this.#inTurn(asked, turn, place, () => work(turn));
    } finally {
      leaveQueue();
      counted.ends();
      this.#admitted.delete(control);
    }
  }

  /** Registers a call, or an operation of several calls. Closing waits until the result is disposed of. */
  arrive(): Disposable {
    this.#underWay++;
    const leave = (): void => {
      this.#underWay--;
      if (this.#underWay === 0) this.#onIdle();
    };
    return { [Symbol.dispose]: leave };
  }

  /** Throws `CLOSED`. */
  checkOpen(action: string): void {
    if (this.#isClosed) throw new ToolError("CLOSED", `Cannot ${action}: the runtime is closed`);
  }

  /** Refuses new calls and waits for earlier ones. After the grace period, cancels those without a begun commit. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const graceOver = setTimeout(() => this.#cancelAll(), graceMs);
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    clearTimeout(graceOver);
  }

  /** Also cancels work that an admitted operation starts from now on. */
  #cancelAll(): void {
    this.#isEnding = true;
    for (const control of this.#admitted) control.endForClose();
  }

  /**
   * Waits for the user's earlier calls, then until fewer than the maximum number of users are served. The earlier call that
   * the program is asked about waits for this one, if the program makes it to answer.
   */
  #inTurn<Result>(
    { action, userId }: AskedTurn,
    turn: Turn,
    place: Place,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const inPlace = async (): Promise<Result> => {
      await place.take(patienceOf(action, turn, "other users' calls"));
      try {
        return await work();
      } finally {
        place.leave();
      }
    };
    if (this.#program.isAskedAbout(userId)) return inPlace();
    return this.#queue.run(userId, patienceOf(action, turn, "the user's earlier calls"), inPlace);
  }

  async #ask<Answer>(
    { action, userId }: AskedTurn,
    turn: RunningTurn,
    { place, ask, isWaiting }: { place: Place; ask: () => Promise<Answer>; isWaiting: boolean },
  ): Promise<Answer> {
    if (this.#program.isAskedAbout(userId)) {
      const reason = "the program is being asked about the user already, and this call is a part of its answer";
      throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
    }
    const beganMs = performance.now();
    place.leave();
    try {
      await this.#usersAsked.take(patienceOf(action, turn, "the program's answers about other users"));
      try {
        return await this.#program.ask(userId, ask);
      } finally {
        this.#usersAsked.give();
      }
    } finally {
      if (!isWaiting) turn.until += performance.now() - beganMs;
      await place.take(patienceOf(action, turn, "other users' calls"));
    }
  }
}

const patienceOf = (action: string, { until, signal }: Pick<Turn, "until" | "signal">, reason: string): Patience => ({
  until,
  signal,
  tooLong: (waitedMs) => new ToolError("BUSY", `Cannot ${action}: ${reason} took over ${waitedMs} ms`),
});

/** A call's place among the users that are served. */
class Place {
  readonly #places: Slots;
  #isTaken = false;

  constructor(places: Slots) {
    this.#places = places;
  }

  async take(patience: Patience): Promise<void> {
    await this.#places.take(patience);
    this.#isTaken = true;
  }

  leave(): void {
    if (this.#isTaken) this.#places.give();
    this.#isTaken = false;
  }
}

/** Can end an admitted call early. Disposing of it stops listening to the caller's signal. */
class CallControl implements Disposable {
  /** Its reason is always a `ToolError`, with which the call ends. */
  readonly signal = new CallEnding();
  readonly #action: string;
  readonly #forget: () => void;

  /** Throws `CANCELLED` if the caller's signal is already aborted. */
  constructor(action: string, ofCaller: AbortSignal | undefined, signals: CallerSignals) {
    this.#action = action;
    const cancelled = (): ToolError => new ToolError("CANCELLED", `Cannot ${action}: the caller cancelled it`);
    if (ofCaller?.aborted) throw cancelled();
    this.#forget = ofCaller ? signals.onAbort(ofCaller, () => this.end(cancelled())) : () => {};
  }

  /** Ends the call unless its commit has begun. */
  end(error: ToolError): void {
    this.signal.abort(error);
  }

  endForClose(): void {
    this.end(closedMeanwhile(this.#action));
  }

  [Symbol.dispose](): void {
    this.#forget();
  }
}

function closedMeanwhile(action: string): ToolError {
  return new ToolError("CANCELLED", `Cannot ${action}: the runtime was closed before it had ended`);
}

interface Listening {
  readonly cancels: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Adds one listener to each caller's signal: a program can use one signal for thousands of calls, and Node prints a
 * warning for the eleventh listener.
 */
class CallerSignals {
  readonly #listening = new Map<AbortSignal, Listening>();

  /** Returns a function to call when the call has ended. */
  onAbort(signal: AbortSignal, cancel: () => void): () => void {
    const { cancels, listener } = this.#listening.get(signal) ?? this.#listen(signal);
    cancels.add(cancel);
    return () => {
      cancels.delete(cancel);
      if (cancels.size > 0) return;
      signal.removeEventListener("abort", listener);
      this.#listening.delete(signal);
    };
  }

  #listen(signal: AbortSignal): Listening {
    const cancels = new Set<() => void>();
    const listener = (): void => {
      for (const cancel of cancels) cancel();
    };
    const listening = { cancels, listener };
    signal.addEventListener("abort", listener);
    this.#listening.set(signal, listening);
    return listening;
  }
}

/** A question to the program about a call of a user. */
interface Question {
  readonly userId: UserId;
  isOpen: boolean;
  /** The question to whose answer the call belongs; `null` if it belongs to none. */
  readonly outer: Question | null;
}

/** The embedding program while it is asked. It can make calls before it answers: where they come from tells them apart. */
class AskedProgram {
  readonly #asked = new AsyncLocalStorage<Question>();

  /** Whether what runs now belongs to the program's answer to a question about this user. */
  isAskedAbout(userId: UserId): boolean {
    for (let question = this.#question; question !== null; question = openOne(question.outer)) {
      if (question.userId === userId) return true;
    }
    return false;
  }

  /** Asks about a call of a user. */
  async ask<Answer>(userId: UserId, ask: () => Promise<Answer>): Promise<Answer> {
    const question: Question = { userId, isOpen: true, outer: this.#question };
    try {
      return await this.#asked.run(question, ask);
    } finally {
      question.isOpen = false;
    }
  }

  get #question(): Question | null {
    return openOne(this.#asked.getStore() ?? null);
  }
}

/** What the program goes on with after its answer no longer belongs to the question. */
function openOne(question: Question | null): Question | null {
  let open = question;
  while (open !== null && !open.isOpen) open = open.outer;
  return open;
}
