/**
 * The worker threads of a pool: which start, which are free, and who waits for one.
 *
 * A thread starts when it is needed, and nothing is held until it has: who waits for it can give up. What keeps threads
 * from starting is tried again only for somebody who waits, so it costs no more than what is asked for.
 */
import { inspect } from "node:util";

import { threadLimits } from "../../shared/limits.ts";
import { inTime } from "../values/in-time.ts";
import { Slots } from "../values/slots.ts";
import type { Patience } from "../values/slots.ts";
import { ToolError } from "../values/tool-error.ts";
import { GuestThread, threadFile } from "./guest-thread.ts";
import type { GuestThreadParts } from "./guest-thread.ts";

export interface ThreadsParts extends Pick<GuestThreadParts, "setup" | "onRequest"> {
  /** How many are kept, even if they are idle. */
  readonly min: number;
  readonly max: number;
  /** Called with the number of threads whenever it changes. */
  readonly onThreads?: ((count: number) => void) | undefined;
  /** Called when nobody gets a thread, because none can start. */
  readonly onRefused: (error: ToolError) => void;
  /** Called when a thread without a task dies, and once for each reason why none can start. */
  readonly onError: (error: unknown) => void;
}

export class Threads {
  readonly #parts: ThreadsParts;
  /** The code of a thread. */
  readonly #code = threadFile().replace("load-worker.cjs", "worker.js");
  /** By thread, the timer that looks after its start. */
  readonly #starting = new Map<GuestThread, NodeJS.Timeout>();
  /** Those that have started, idle or with a task. */
  readonly #live = new Set<GuestThread>();
  /** Those without a task; the last one is the next to be used. */
  readonly #idle: IdleThread[] = [];
  /** One for each idle thread. */
  readonly #free = new Slots(0);
  readonly #leaving = new Set<Promise<void>>();
  /** When a start failed, unless one has succeeded since. */
  #failedMs: number | null = null;
  /** Why the last one failed, which the operator knows by now. */
  #told: string | null = null;
  #isClosed = false;

  /** Throws `INTERNAL` if a file of the package is missing. */
  constructor(parts: ThreadsParts) {
    this.#parts = parts;
    this.#startWanted();
  }

  /** Waits for a thread without a task. Throws what the patience says, and `INTERNAL` if none can start. */
  async take(patience: Patience): Promise<GuestThread> {
    for (;;) {
      const turn = this.#free.take(patience);
      this.#startWanted();
      await turn;
      const idle = this.#idle.pop();
      // Otherwise the slot is that of a thread that has ended since.
      if (idle === undefined) continue;
      clearTimeout(idle.timer);
      return idle.thread;
    }
  }

  /** The thread has no task any more. */
  give(thread: GuestThread): void {
    if (thread.hasEnded) return;
    const isMore = this.#live.size > this.#parts.min;
    const timer = isMore ? setTimeout(() => this.#retire(thread), threadLimits.idleMs).unref() : undefined;
    this.#idle.push({ thread, timer });
    this.#free.give();
  }

  /** Terminates all threads, also busy and starting ones. One that the system does not let go of is not waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const threads = [...this.#starting.keys(), ...this.#live];
    for (const thread of this.#starting.keys()) this.#stopsStarting(thread);
    for (const thread of threads) void thread.end();
    const until = performance.now() + threadLimits.startMs;
    await inTime(Promise.all(this.#leaving), { until, tooLong: notGone }).catch((error: unknown) => {
      this.#parts.onError(error);
    });
  }

  /** Starts what those who wait need, and what is to be kept. */
  #startWanted(): void {
    const { min, max } = this.#parts;
    while (!this.#isClosed) {
      const soon = this.#startingSoon();
      const isNeeded = this.#free.waiting > soon;
      const isKept = this.#failedMs === null && this.#live.size + this.#starting.size < min;
      if (!(isNeeded || isKept) || this.#live.size + soon >= max || !this.#mayStart(soon)) return;
      this.#start();
    }
  }

  /** After a failure or beside a slow start, one thread is tried at a time; if others do the work, only now and then. */
  #mayStart(soon: number): boolean {
    const failedMs = this.#failedMs;
    if (failedMs === null && this.#starting.size === soon) return true;
    if (soon > 0) return false;
    return failedMs === null || this.#live.size === 0 || performance.now() - failedMs > threadLimits.retryMs;
  }

  #start(): void {
    const { setup, onRequest } = this.#parts;
    const onEnd = (thread: GuestThread): void => this.#hasEnded(thread);
    const onError = (error: unknown): void => this.#parts.onError(error);
    let thread: GuestThread;
    try {
      thread = new GuestThread({ setup, onRequest, onEnd, onError });
    } catch (error) {
      return this.#failed(error);
    }
    this.#starting.set(thread, setTimeout(() => this.#isSlow(thread), threadLimits.slowStartMs).unref());
    this.#count();
    thread.started.then(
      () => this.#hasStarted(thread),
      (error: unknown) => this.#hasNotStarted(thread, error),
    );
  }

  #hasStarted(thread: GuestThread): void {
    if (!this.#stopsStarting(thread)) return;
    this.#failedMs = null;
    this.#told = null;
    this.#live.add(thread);
    this.give(thread);
    this.#startWanted();
  }

  #hasNotStarted(thread: GuestThread, error: unknown, isLate = false): void {
    if (!this.#stopsStarting(thread)) return;
    void thread.end();
    this.#count();
    this.#failed(error, isLate);
  }

  /** Whether it was starting until now. */
  #stopsStarting(thread: GuestThread): boolean {
    clearTimeout(this.#starting.get(thread));
    return this.#starting.delete(thread);
  }

  /** It goes on, because a machine can be loaded; but whoever waits gets another one beside it. */
  #isSlow(thread: GuestThread): void {
    const slow = this.#starting.size - this.#startingSoon();
    if (slow <= this.#parts.max) {
      const late = (): void => this.#hasNotStarted(thread, notStartedIn(threadLimits.startMs), true);
      this.#starting.set(thread, setTimeout(late, threadLimits.startMs - thread.ageMs).unref());
    } else if (this.#stopsStarting(thread)) void thread.end();
    this.#startWanted();
  }

  /** How many starts are not slow. */
  #startingSoon(): number {
    let count = 0;
    for (const { ageMs } of this.#starting.keys()) if (ageMs < threadLimits.slowStartMs) count++;
    return count;
  }

  /** `INTERNAL` if no thread lives, although one had the time to start; otherwise what `busy` returns. */
  late(busy: () => ToolError): ToolError {
    const isStuck = this.#live.size === 0 && this.#starting.size > this.#startingSoon();
    return isStuck ? cannotRun(startFailure(this.#code, notStartedIn(threadLimits.slowStartMs))) : busy();
  }

  #failed(error: unknown, isLate = false): void {
    this.#failedMs = performance.now();
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const failure = startFailure(this.#code, reason);
    if (this.#told !== reason) {
      this.#told = reason;
      this.#parts.onError(startFailure(this.#code, typeof error === "string" ? error : inspect(error)));
    }
    // The others' starts can still succeed, and a thread that lives serves everybody in turn.
    if (this.#live.size > 0 || (this.#startingSoon() > 0 && !isLate)) return;
    this.#free.refuse(cannotRun(failure));
    this.#parts.onRefused(cannotRun(failure));
  }

  #retire(thread: GuestThread): void {
    if (this.#live.size > this.#parts.min && this.#leavesIdle(thread)) void thread.end();
  }

  #leavesIdle(thread: GuestThread): boolean {
    const at = this.#idle.findIndex((idle) => idle.thread === thread);
    if (at < 0) return false;
    clearTimeout(this.#idle[at]?.timer);
    this.#idle.splice(at, 1);
    return true;
  }

  #hasEnded(thread: GuestThread): void {
    const exit = thread.end().then(() => void this.#leaving.delete(exit));
    this.#leaving.add(exit);
    const wasLive = this.#live.delete(thread);
    this.#count();
    // A thread that dies without a task would die again. One that a guest has cost is replaced.
    if (this.#leavesIdle(thread)) this.#failedMs = performance.now();
    else if (wasLive) this.#startWanted();
  }

  #count(): void {
    this.#parts.onThreads?.(this.#starting.size + this.#live.size);
  }
}

interface IdleThread {
  readonly thread: GuestThread;
  /** Ends it, if it is one more than are kept. */
  readonly timer: NodeJS.Timeout | undefined;
}

/** Why no thread can start. For the operator: it names a file of the host. */
function startFailure(file: string, reason: string): ToolError {
  return new ToolError("INTERNAL", `Cannot start a thread with ${file}: ${reason}`);
}

const notGone = (waitedMs: number): ToolError =>
  new ToolError("INTERNAL", `Cannot end all threads: one has not exited in ${waitedMs} ms`);

const notStartedIn = (ms: number): string => `it has not started in ${ms} ms`;

function cannotRun(cause: ToolError): ToolError {
  return new ToolError("INTERNAL", "Cannot run a plugin: no thread can start", { cause });
}
