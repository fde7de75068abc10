/** Admits calls until it is closed: one user's in order, and with bounds for waiting calls and running users. */
import { AsyncLocalStorage } from "node:async_hooks";

import { queueLimits } from "../../shared/limits.ts";
import type { Measures } from "../audit/collect/open-telemetry.ts";
import type { LogEntry, LogSource } from "../log/log-entry.ts";
import { writeCause } from "../log/write-log.ts";
import type { AskingTurn } from "../values/asked-program.ts";
import type { UserId } from "../values/ids.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import { CallEnding, CallerSignals, Slots, UserQueue } from "../values/turns.ts";
import type { Patience } from "../values/turns.ts";
import type { Listeners } from "./listeners.ts";

export interface AskedTurn {
  readonly action: string;
  readonly userId: UserId;
  readonly inputBytes: number;
  /** Cancels the call. */
  readonly signal: AbortSignal | undefined;
  /** When it stops waiting. Default: after `waitMs`. */
  readonly until?: number | undefined;
  /** For the operator's log. */
  readonly source: LogSource;
}

/** A call whose turn has come. */
export interface Turn extends AskingTurn {
  /** Reports that the call no longer waits. Calling it twice is harmless. */
  endWait(): void;
}

interface AdmissionParts {
  readonly measures: Measures;
  readonly listeners: Listeners;
  readonly onLog: (entry: LogEntry) => void;
}

/**
 * Users about whose calls the program is asked at the same time. Nothing is kept for them but their inputs and what they
 * want to write.
 */
const usersAskedMax = 256;

/** An admitted call. `signal` ends it unless its commit has begun; its reason is always a `ToolError`. */
interface Admitted extends Turn, Pick<AskedTurn, "action" | "userId"> {
  readonly load: Readonly<Load>;
  readonly signal: CallEnding;
  until: number;
  /** Whether it has a place among the users that are served. */
  isServed: boolean;
}

export class Admission {
  /** How long a call may wait for its turn, the user's lock and a thread together. */
  readonly waitMs: number;
  readonly #parts: AdmissionParts;
  readonly #waiting: WaitingCalls;
  readonly #queue = new UserQueue();
  readonly #usersHeld = new Slots(queueLimits.usersHeldMax);
  readonly #usersAsked = new Slots(usersAskedMax);
  /** What the program is asked where code runs: it can make calls before it answers. */
  readonly #questions = new AsyncLocalStorage<readonly Question[]>();
  readonly #signals = new CallerSignals();
  readonly #admitted = new Set<Admitted>();
  #underWay = 0;
  #onIdle: () => void = () => {};
  readonly #closing = new AbortController();
  #isEnding = false;

  constructor(waitMs: number, limits: WaitingLimits, parts: AdmissionParts) {
    this.waitMs = waitMs;
    this.#waiting = new WaitingCalls(limits);
    this.#parts = parts;
  }

  /**
   * Does the work when its turn has come, or in `within`, if that is given. Throws `BUSY` or `CANCELLED`. The operator's log
   * gets the cause of a failure.
   */
  async run<Result>(asked: AskedTurn, work: (turn: Turn) => Promise<Result>, within?: Turn): Promise<Result> {
    try {
      return await (within === undefined ? this.#admit(asked, work) : work(within));
    } catch (error) {
      const failure = asToolError(error, asked.action);
      writeCause(this.#parts.onLog, failure, asked.source);
      throw failure;
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

  /** Aborted when closing begins, which waits for what has arrived. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Throws `CLOSED`. */
  checkOpen(action: string): void {
    if (this.closing.aborted) throw new ToolError("CLOSED", `Cannot ${action}: the runtime is closed`);
  }

  /** Refuses new calls and waits for earlier ones. After the grace period, cancels those without a begun commit. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    const graceOver = setTimeout(() => this.#cancelAll(), graceMs);
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    clearTimeout(graceOver);
  }

  /** Also cancels work that an admitted operation starts from now on. */
  #cancelAll(): void {
    this.#isEnding = true;
    for (const { action, signal } of this.#admitted) signal.abort(closedMeanwhile(action));
  }

  async #admit<Result>(
    { action, userId, inputBytes, signal: ofCaller, until = performance.now() + this.waitMs }: AskedTurn,
    work: (turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    const cancelled = (): ToolError => new ToolError("CANCELLED", `Cannot ${action}: the caller cancelled it`);
    if (this.#isEnding) throw closedMeanwhile(action);
    if (ofCaller?.aborted) throw cancelled();
    const call: Admitted = {
      action,
      userId,
      load: { calls: 1, bytes: inputBytes },
      until,
      signal: new CallEnding(),
      isServed: false,
      endWait: () => {
        this.#waiting.remove(call);
        counted.begins();
      },
      askProgram: (ask, { isWaiting }) => this.#ask(call, ask, isWaiting),
    };
    this.#waiting.add(call);
    const forget = ofCaller && this.#signals.add(ofCaller, () => call.signal.abort(cancelled()));
    const counted = this.#parts.measures.admitted();
    this.#admitted.add(call);
    try {
      // The earlier call that the program is asked about waits for this one, if the program makes it to answer.
      if (this.#isAskedAbout(userId)) return await this.#serve(call, work);
      const patience = patienceOf(call, "the user's earlier calls");
      return await this.#queue.run(userId, patience, () => this.#serve(call, work));
    } finally {
      forget?.();
      this.#waiting.remove(call);
      counted.ends();
      this.#admitted.delete(call);
    }
  }

  /** Waits until fewer than the maximum number of users are served. After the work, listeners are told. */
  async #serve<Result>(call: Admitted, work: (turn: Turn) => Promise<Result>): Promise<Result> {
    await this.#takePlace(call);
    try {
      return await work(call);
    } finally {
      this.#parts.listeners.tellOf(call.userId);
      this.#givePlace(call);
    }
  }

  async #takePlace(call: Admitted): Promise<void> {
    await this.#usersHeld.take(patienceOf(call, "other users' calls"));
    call.isServed = true;
  }

  #givePlace(call: Admitted): void {
    if (call.isServed) this.#usersHeld.give();
    call.isServed = false;
  }

  async #ask<Answer>(call: Admitted, ask: () => Promise<Answer>, isWaiting: boolean): Promise<Answer> {
    const { userId } = call;
    if (this.#isAskedAbout(userId)) {
      throw busy(call, "the program is being asked about the user already, and this call is a part of its answer");
    }
    const beganMs = performance.now();
    const question = { userId, isOpen: true };
    this.#givePlace(call);
    try {
      await this.#usersAsked.take(patienceOf(call, "the program's answers about other users"));
      try {
        return await this.#questions.run([...this.#open, question], ask);
      } finally {
        question.isOpen = false;
        this.#usersAsked.give();
      }
    } finally {
      if (!isWaiting) call.until += performance.now() - beganMs;
      await this.#takePlace(call);
    }
  }

  /** Whether what runs now belongs to the program's answer to a question about this user. */
  #isAskedAbout(userId: UserId): boolean {
    return this.#open.some((question) => question.userId === userId);
  }

  /** What the program goes on with after its answer no longer belongs to the question. */
  get #open(): readonly Question[] {
    return this.#questions.getStore()?.filter(({ isOpen }) => isOpen) ?? [];
  }
}

/** A question to the program about a call of a user. */
interface Question {
  readonly userId: UserId;
  isOpen: boolean;
}

const patienceOf = (call: Admitted, reason: string): Patience => ({
  until: call.until,
  signal: call.signal,
  tooLong: (waitedMs) => busy(call, `${reason} took over ${waitedMs} ms`),
});

const busy = ({ action }: Admitted, reason: string): ToolError => new ToolError("BUSY", `Cannot ${action}: ${reason}`);

const closedMeanwhile = (action: string): ToolError =>
  new ToolError("CANCELLED", `Cannot ${action}: the runtime was closed before it had ended`);

/** How many calls wait, and the size of their inputs. */
type Load = Record<"calls" | "bytes", number>;

export interface WaitingLimits extends Readonly<Load> {
  readonly callsPerUser: number;
}

/** One user's waiting calls, the oldest first, and their load. */
interface Line extends Load {
  readonly waiting: Set<Admitted>;
}

/**
 * The calls that are admitted and do not run yet. When the queue is full, the newest calls of the user with the highest
 * load give way to a user with a lower load, so that one user's flood does not block others.
 */
class WaitingCalls {
  readonly #limits: WaitingLimits;
  readonly #lines = new Map<string, Line>();
  readonly #total: Load = { calls: 0, bytes: 0 };

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  /** Throws `BUSY`. */
  add(call: Admitted): void {
    const line = this.#lines.get(call.userId) ?? { calls: 0, bytes: 0, waiting: new Set() };
    const allowed = this.#limits.callsPerUser;
    if (line.calls >= allowed) {
      throw busy(call, `${line.calls} calls of the user are waiting, at most ${allowed} allowed`);
    }
    for (const each of [...this.#whoGivesWay("calls", call, line), ...this.#whoGivesWay("bytes", call, line)]) {
      this.remove(each);
      each.signal.abort(busy(each, "too many calls are waiting, and the user has the most of them"));
    }
    this.#lines.set(call.userId, line);
    line.waiting.add(call);
    this.#count(line, 1, call);
  }

  /** It has begun or ended. Calling it twice is harmless. */
  remove(call: Admitted): void {
    const line = this.#lines.get(call.userId);
    if (!line?.waiting.delete(call)) return;
    this.#count(line, -1, call);
    if (line.calls === 0) this.#lines.delete(call.userId);
  }

  #count(line: Line, sign: 1 | -1, { load }: Admitted): void {
    for (const sum of [line, this.#total]) {
      sum.calls += sign * load.calls;
      sum.bytes += sign * load.bytes;
    }
  }

  /**
   * The newest calls of the user with the highest load, as many as must give way. Throws `BUSY` if that user would then have a
   * lower load than the newcomer's user, whose line is `own`.
   */
  #whoGivesWay(kind: keyof Load, newcomer: Admitted, own: Line): Admitted[] {
    const weight = newcomer.load[kind];
    const [present, allowed] = [this.#total[kind], this.#limits[kind]];
    const excess = present + weight - allowed;
    if (excess <= 0) return [];
    const heaviest = Array.from(this.#lines.values()).reduce((a, b) => (b[kind] > a[kind] ? b : a), own);
    const leaving: Admitted[] = [];
    let freed = 0;
    for (const call of Array.from(heaviest.waiting).toReversed()) {
      if (freed >= excess) break;
      freed += call.load[kind];
      leaving.push(call);
    }
    if (freed >= excess && heaviest[kind] - freed >= own[kind] + weight) return leaving;
    const what = kind === "calls" ? kind : "bytes of input";
    throw busy(newcomer, `${present} ${what} are waiting, at most ${allowed} allowed`);
  }
}
