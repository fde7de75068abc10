/**
 * The worker threads that run guests. The only file that imports piscina.
 *
 * A thread runs one task at a time: a guest's work is synchronous, and its thread can be terminated because of it.
 * piscina never gets more tasks than there are threads: this file decides which task is next and which has waited too
 * long.
 */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";

import { Piscina, queueOptionsSymbol } from "piscina";
import type { PiscinaTask } from "piscina";

import { threadLimits } from "../../shared/limits.ts";
import { newTrail } from "../audit/collect/trail-memory.ts";
import type { Trail } from "../audit/collect/trail-memory.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import type { StoreDefinition } from "../store/store.ts";
import { CallEnding } from "../values/call-ending.ts";
import { Slots } from "../values/slots.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { withinBounds } from "./bounded-task.ts";
import type { TaskBounds } from "./bounded-task.ts";
import { StartedTask } from "./started-task.ts";
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

/** A thread that nobody else uses. Disposing of it gives it back, unless it has got a task. */
export interface FreeThread extends Disposable {
  /** Resolves when the task has ended, also when it has failed. Can be called only once. */
  run(task: WorkerTask, bounds: TaskBounds): Promise<EndedRun>;
}

/** An ended task. Disposing of it gives the thread back as soon as that has answered: the next task gets its trail. */
export interface EndedRun extends Disposable {
  /** The thread's answer, or why the answer is no longer awaited. */
  readonly outcome: WorkerReply | ToolError;
  /** What the guest has done. Closed: nothing more is added. `null` if no thread has got the task. */
  readonly trail: Trail | null;
  /** Set if the thread was terminated: resolves when another one is ready in its place. */
  readonly replaced: Promise<void> | null;
}

/** What the pool adds to a task. It stays in this thread. */
interface QueueOptions {
  /** Called right before a thread gets the task. `isFirst`: it is the thread's first one. */
  readonly begin: (trail: Trail, isFirst: boolean) => void;
}

export class Pool {
  readonly #piscina: Piscina<WorkerTask | null, WorkerReply | null>;
  readonly #slots: Slots;
  readonly #countThreads: () => void;
  /** By thread. */
  readonly #trails = new Map<number, Trail>();
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
      loadBalancer: (task, threads) => {
        const free = threads.find(({ currentUsage }) => currentUsage === 0) ?? null;
        if (free !== null) this.#begin(task, free.id);
        return free;
      },
      // Otherwise all threads but one stop after every burst of calls, and each costs 40 ms to start again.
      idleTimeout: threadLimits.idleMs,
      // The SDK imports node:wasi, which prints a warning in every thread; no plugin gets WASI. And piscina would first
      // load the thread's module with require(): terminating a thread during that crashes the process (V8:
      // "Module::IsGraphAsync must be used on an instantiated module").
      execArgv: ["--disable-warning=ExperimentalWarning", "--no-experimental-require-module"],
    });
    this.#piscina.on("error", onError);
    this.#countThreads = () => {
      const present = new Set(this.#piscina.threads.map(({ threadId }) => threadId));
      for (const id of this.#trails.keys()) if (!present.has(id)) this.#trails.delete(id);
      onThreads?.(this.#piscina.threads.length);
    };
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
        isUsed = true;
        return this.#ended(this.#start(task), bounds);
      },
      [Symbol.dispose]: () => {
        if (!isUsed) this.#slots.give();
      },
    };
  }

  #start(task: WorkerTask): StartedTask<WorkerReply> {
    const killing = new CallEnding();
    const run = (begin: (trail: Trail) => void): Promise<WorkerReply> => {
      const options: QueueOptions = {
        begin: (trail, isFirst) => {
          begin(trail);
          if (isFirst) Object.assign(balanced, { trail: trail.memory });
        },
      };
      const balanced = { ...task, [queueOptionsSymbol]: options };
      return this.#piscina.run(balanced, { signal: killing }) as Promise<WorkerReply>;
    };
    const started = new StartedTask(run, () => this.#kill(killing));
    started.reply.catch(() => {
      started.replaced = this.#replaceThread().finally(() => void this.#slots.give());
    });
    return started;
  }

  #begin({ [queueOptionsSymbol]: options }: PiscinaTask, threadId: number): void {
    if (options === null) return;
    const known = this.#trails.get(threadId);
    const trail = known ?? newTrail();
    this.#trails.set(threadId, trail);
    (options as QueueOptions).begin(trail, known === undefined);
  }

  /** Resolves when a thread is ready that has no task: the one that stands by, or a new one. */
  async #replaceThread(): Promise<void> {
    // Also makes piscina start a thread if there are too few.
    await this.#piscina.run(null).catch(() => null);
  }

  async #ended(task: StartedTask<WorkerReply>, bounds: TaskBounds): Promise<EndedRun> {
    const outcome = await withinBounds(task, bounds).catch((error: unknown) =>
      asToolError(error, `call ${bounds.name}`),
    );
    task.close();
    const { reply, trail, replaced } = task;
    const free = (): void => void this.#slots.give();
    return { outcome, trail, replaced, [Symbol.dispose]: () => void reply.then(free, () => {}) };
  }

  /** Terminates all threads, also busy ones. */
  async close(): Promise<void> {
    // When a terminated thread exits, piscina starts another one, which would outlive the pool.
    while (this.#dying.size > 0) await Promise.all(this.#dying);
    await this.#piscina.destroy();
    this.#countThreads();
  }

  #kill(killing: CallEnding): void {
    const before = this.#piscina.threads;
    killing.abort();
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
