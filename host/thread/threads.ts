/**
 * The worker threads of a pool: which start, which are free, and who waits for one.
 *
 * A thread starts when it is needed, and nothing is held until it has: who waits for it can give up. What keeps threads
 * from starting is tried again only for somebody who waits, so it costs no more than what is asked for. Only this file
 * imports piscina.
 */
import { inspect } from "node:util";

import { Piscina } from "piscina";

import { threadLimits } from "../../shared/limits.ts";
import { clearTrail, closeTrail, newTrail, runningMs } from "../audit/collect/trail.ts";
import type { Trail } from "../audit/collect/trail.ts";
import { packageFile } from "../values/package-file.ts";
import { ToolError } from "../values/tool-error.ts";
import { Slots, inTime } from "../values/turns.ts";
import type { Patience } from "../values/turns.ts";
import type { BridgeRequest, ModulesRequest, ThreadStart, WorkerReply, WorkerSetup, WorkerTask } from "./worker.ts";

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

export interface GuestThreadParts {
  readonly setup: WorkerSetup;
  readonly onRequest: (request: ModulesRequest | BridgeRequest) => void;
  /** Called once when the thread has ended or is about to, for whatever reason. It takes no more tasks. */
  readonly onEnd: (thread: GuestThread) => void;
  /** Called with why it has died, if no task gets to know that. */
  readonly onError: (error: unknown) => void;
}

/** A task that a thread has received or will receive. */
export interface ThreadTask<Reply = unknown> {
  /** Rejects when the thread is terminated. */
  readonly reply: Promise<Reply>;
  /** How long a thread has worked on it; `null` before it begins. */
  runningMs(): number | null;
  /** From now on its guest gets no more answers. */
  close(): void;
  /** Terminates the thread that works on it. */
  kill(): void;
}

/** A task in its thread. */
export interface RunningTask extends ThreadTask<WorkerReply> {
  /** What the guest has done. The thread's next task clears it. */
  readonly trail: Trail;
}

/**
 * One worker thread, which runs one task at a time: a guest's work is synchronous, and its thread can be terminated
 * because of it. Each thread is a piscina of its own (`RATIONALE.md`, "Why is each thread a piscina of its own?").
 */
export class GuestThread {
  /** Resolves when it can take a task. Rejects with why it has ended before. */
  readonly started: Promise<unknown>;
  readonly #piscina: Piscina<WorkerTask | ThreadStart, WorkerReply | null>;
  readonly #beganMs = performance.now();
  readonly #trail = newTrail();
  readonly #exited: Promise<void>;
  #hasEnded = false;

  /** Throws if the system gives the process no more threads. */
  constructor({ setup, onRequest, onEnd, onError }: GuestThreadParts) {
    this.#piscina = new Piscina({
      filename: threadFile(),
      workerData: setup,
      minThreads: 1,
      maxThreads: 1,
      // A thread that sleeps in Atomics.wait could not prepare the next call's instance. Events are as fast: 44 µs each
      // way.
      atomics: "disabled",
      recordTiming: false,
      // The SDK imports node:wasi, which prints a warning in every thread; no plugin gets WASI.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    // Not `once` from node:events: it would turn an error of the dying thread into a rejection.
    this.#exited = new Promise((resolve) => void this.#piscina.threads[0]?.once("exit", () => resolve()));
    this.#piscina.on("message", onRequest);
    this.#piscina.on("error", onError);
    this.#piscina.on("workerDestroy", () => {
      // Or piscina would start another thread in its place.
      void this.end();
      onEnd(this);
    });
    this.started = this.#piscina.run({ trail: this.#trail.memory });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** How long ago its start began. */
  get ageMs(): number {
    return performance.now() - this.#beganMs;
  }

  /** Only when it has started, and no other task is in it. */
  run(task: WorkerTask): RunningTask {
    const trail = this.#trail;
    clearTrail(trail);
    return {
      trail,
      reply: this.#piscina.run(task, { transferList: memoryOf(task) }) as Promise<WorkerReply>,
      runningMs: () => runningMs(trail),
      close: () => closeTrail(trail),
      kill: () => void this.end(),
    };
  }

  /** Terminates the thread, also a busy or starting one. Resolves when it has exited. */
  end(): Promise<void> {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      // Its promise can stay open: a thread that has exited on its own does not exit again.
      void this.#piscina.destroy();
    }
    return this.#exited;
  }
}

/** The memory of the contents that the host has staged. If the thread only shared it, the engine would free it late or never. */
function memoryOf({ before = [] }: WorkerTask): ArrayBuffer[] {
  for (const change of before) {
    if (change.kind === "write" && typeof change.content !== "string") return [change.content.buffer as ArrayBuffer];
  }
  return [];
}

/** What piscina loads, which loads the code of a thread beside it. Throws `INTERNAL` if it is missing. */
const threadFile = (): string => packageFile("dist/host/thread/load-worker.cjs");
