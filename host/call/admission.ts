/** Admits calls until it is closed: one user's in order, and with bounds for waiting calls and running users. */
import { queueLimits } from "../../shared/limits.ts";
import type { Measures } from "../audit/collect/measures.ts";
import type { AskingTurn } from "../values/asking-turn.ts";
import { CallEnding } from "../values/call-ending.ts";
import { Slots, UserQueue } from "../values/slots.ts";
import type { Patience } from "../values/slots.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import { AskedProgram } from "./asked-program.ts";
import { CallerSignals } from "./caller-signals.ts";
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
