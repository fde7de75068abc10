/**
 * The worker threads that run guests. The only file that imports piscina.
 *
 * A thread runs one task at a time: a guest's work is synchronous, and its thread can be terminated because of it.
 * piscina never gets more tasks than there are threads: this file decides which task is next and which has waited too
 * long.
 */
import { EventEmitter } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";

import { Piscina } from "piscina";

import { threadLimits } from "../../shared/limits.ts";
import { closeTrail, TrailStock } from "../audit/collect/trail-memory.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import type { StoreDefinition } from "../store/store.ts";
import { Slots } from "../values/slots.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { withinBounds } from "./bounded-task.ts";
import type { TaskBounds, ThreadTask } from "./bounded-task.ts";
import type { BridgeRequest, ModulesRequest, WorkerReply, WorkerSetup, WorkerTask } from "./worker.ts";

export interface PoolOptions {
  /**
   * The plugins' modules. Threads start while they compile. The caller must not run a task before they resolve, and
   * must handle their rejection.
   */
  readonly modules: Promise<readonly GuestModule[]>;
  readonly threadsMax?: number | undefined;
  /** Whether all threads are started at once, and one more that stands by. Default: the others when they are needed. */
  readonly isWarm?: boolean | undefined;
  /** Answers the reads of threads. Default: none, because threads read on their own. */
  readonly answerReads?: StoreDefinition["answerReads"];
  /** Called with the number of threads whenever it changes. */
  readonly onThreads?: (count: number) => void;
  /** Called when a thread without a call dies. */
  readonly onError: (error: unknown) => void;
}

/** A thread's task without the trail, which the pool adds. */
export type GuestTask = Omit<WorkerTask, "trail">;

/** A thread that nobody else uses. Disposing of it gives it back, at once or when its task has ended. */
export interface FreeThread extends Disposable {
  /** Resolves when the task has ended, also when it has failed. Can be called only once. */
  run(task: GuestTask, bounds: TaskBounds): Promise<EndedRun>;
}

/** An ended task. Dispose of it when the trail is no longer needed. */
export interface EndedRun extends Disposable {
  /** The thread's answer, or why the answer is no longer awaited. */
  readonly outcome: WorkerReply | ToolError;
  /** What the guest has done. Closed: nothing more is added. */
  readonly trail: SharedArrayBuffer;
  /** Set if the thread was terminated: resolves when another one is ready in its place. */
  readonly replaced: Promise<void> | null;
}

interface StartedTask extends ThreadTask<WorkerReply> {
  replaced: Promise<void> | null;
}

export class Pool {
  readonly #piscina: Piscina<WorkerTask | null, WorkerReply | null>;
  readonly #slots: Slots;
  readonly #countThreads: () => void;
  readonly #trails = new TrailStock();
  /** Terminated threads that have not exited yet. */
  readonly #dying = new Set<Promise<unknown>>();

  constructor(
    setup: WorkerSetup,
    { modules, isWarm = false, answerReads, onThreads, onError, ...options }: PoolOptions,
  ) {
    const { threadsMax = availableParallelism() } = options;
    this.#slots = new Slots(threadsMax);
    this.#piscina = new Piscina<WorkerTask | null, WorkerReply | null>({
      filename: fileURLToPath(import.meta.resolve("#worker")),
      workerData: setup,
      minThreads: isWarm ? threadsMax + 1 : 1,
      maxThreads: isWarm ? threadsMax + 1 : threadsMax,
      concurrentTasksPerWorker: 1,
      // A thread that sleeps in Atomics.wait could not prepare the next call's instance. Events are as fast: 44 µs each
      // way.
      atomics: "disabled",
      // Otherwise all threads but one stop after every burst of calls, and each costs 40 ms to start again.
      idleTimeout: threadLimits.idleMs,
      // The SDK imports node:wasi, which prints a warning in every thread; no plugin gets WASI. And piscina would first
      // load the thread's module with require(): terminating a thread during that crashes the process (V8:
      // "Module::IsGraphAsync must be used on an instantiated module").
      execArgv: ["--disable-warning=ExperimentalWarning", "--no-experimental-require-module"],
    });
    this.#piscina.on("error", onError);
    this.#countThreads = () => onThreads?.(this.#piscina.threads.length);
    for (const event of ["workerCreate", "workerDestroy"]) this.#piscina.on(event, this.#countThreads);
    this.#countThreads();
    this.#piscina.on("message", (request: ModulesRequest | BridgeRequest) => {
      if ("bridgeTo" in request) return answerReads?.(request.bridgeTo);
      modules.then(
        (all) => request.modulesTo.postMessage(all, []),
        () => {},
      );
    });
  }

  /** Waits for a free thread. Throws `BUSY` if none is free in time, or the signal's reason. */
  async take(name: string, { until, signal }: Pick<TaskBounds, "until" | "signal">): Promise<FreeThread> {
    const tooLong = (waitedMs: number): ToolError =>
      new ToolError("BUSY", `Cannot call ${name}: no thread was free for ${waitedMs} ms`);
    await this.#slots.take({ until, signal, tooLong });
    if (signal.aborted) {
      // Cancelled after the slot was given, when nothing listened to the signal.
      this.#slots.give();
      throw signal.reason;
    }
    let isUsed = false;
    return {
      run: (task, bounds) => {
        const started = this.#start({ ...task, trail: this.#trails.lease() });
        isUsed = true;
        return this.#ended(started, bounds);
      },
      [Symbol.dispose]: () => {
        if (!isUsed) this.#slots.give();
      },
    };
  }

  #start(task: WorkerTask): StartedTask {
    // 9 µs cheaper than an AbortController.
    const killer = new EventEmitter();
    const reply = this.#piscina.run(task, { signal: killer }) as Promise<WorkerReply>;
    const free = (): void => void this.#slots.give();
    const started: StartedTask = { reply, trail: task.trail, kill: () => this.#kill(killer), replaced: null };
    reply.then(free, () => {
      started.replaced = this.#replaceThread().finally(free);
    });
    return started;
  }

  /** Resolves when a thread is ready that has no task: the one that stands by, or a new one. */
  async #replaceThread(): Promise<void> {
    // Also makes piscina start a thread if there are too few.
    await this.#piscina.run(null).catch(() => null);
  }

  async #ended(task: StartedTask, bounds: TaskBounds): Promise<EndedRun> {
    const { reply, trail } = task;
    const outcome = await withinBounds(task, bounds).catch((error: unknown) =>
      asToolError(error, `call ${bounds.name}`),
    );
    closeTrail(trail);
    // A thread that has answered writes no more, so its trail is reused. A terminated thread's trail is not: the thread
    // can be in the middle of a write.
    const giveBack = (): void => this.#trails.giveBack(trail);
    return { outcome, trail, replaced: task.replaced, [Symbol.dispose]: () => void reply.then(giveBack, () => {}) };
  }

  /** Terminates all threads, also busy ones. */
  async close(): Promise<void> {
    // When a terminated thread exits, piscina starts another one, which would outlive the pool.
    while (this.#dying.size > 0) await Promise.all(this.#dying);
    await this.#piscina.destroy();
    this.#countThreads();
  }

  #kill(killer: EventEmitter): void {
    const before = this.#piscina.threads;
    killer.emit("abort");
    const after = new Set(this.#piscina.threads);
    for (const thread of before.filter((each) => !after.has(each))) this.#awaitEnd(thread);
  }

  #awaitEnd(thread: Worker): void {
    // Not `once` from node:events: it would turn an error of the dying thread into an unhandled rejection.
    const ended = new Promise<void>((resolve) => {
      thread.once("exit", () => {
        this.#dying.delete(ended);
        resolve();
      });
    });
    this.#dying.add(ended);
  }
}
