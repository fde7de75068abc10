/**
 * Threads that run guests. Sole importer of piscina.
 *
 * One task in a thread at a time: a guest's work is synchronous, and its thread may be killed for it. piscina is never
 * given more tasks than there are threads: who comes next, and who waits too long, is decided here.
 */
import { EventEmitter } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";

import { Piscina } from "piscina";

import { threadLimits } from "../../shared/limits.ts";
import { closeTrail } from "../audit/collect/read-trail.ts";
import { TrailStock } from "../audit/collect/trail-stock.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import type { StoreDefinition } from "../store/store.ts";
import { ToolError } from "../values/tool-error.ts";
import { withinBounds } from "./bounded-task.ts";
import type { TaskBounds } from "./bounded-task.ts";
import { Slots } from "./slots.ts";
import { newStamp } from "./start-stamp.ts";
import type { BridgeRequest, ModulesRequest, WorkerReply, WorkerSetup, WorkerTask } from "./worker.ts";

export interface PoolOptions {
  /** What threads run. They start meanwhile, and no task may be run before. Its rejection is someone else's to handle. */
  readonly modules: Promise<readonly GuestModule[]>;
  readonly threadsMax?: number | undefined;
  /** Answers what a thread's readers ask. Default: nobody does, as threads read by themselves. */
  readonly answerReads?: StoreDefinition["answerReads"];
  /** Told when a thread dies that no call was in. */
  readonly onError: (error: unknown) => void;
}

/** A task for one of the threads. */
export interface PoolTask extends TaskBounds {
  /** Asked when a thread is free. */
  readonly makeTask: () => Omit<WorkerTask, "stamp" | "trail">;
  /** Told when the task has ended, however it did, with the trail of what its guest has done. */
  readonly onEnd: (trail: SharedArrayBuffer) => void;
}

export class Pool {
  readonly #piscina: Piscina<WorkerTask, WorkerReply>;
  readonly #slots: Slots;
  readonly #trails = new TrailStock();
  /** Threads that were killed and are not gone yet. */
  readonly #dying = new Set<Promise<unknown>>();

  constructor(setup: WorkerSetup, { modules, threadsMax = availableParallelism(), answerReads, onError }: PoolOptions) {
    this.#slots = new Slots(threadsMax);
    this.#piscina = new Piscina<WorkerTask, WorkerReply>({
      filename: fileURLToPath(import.meta.resolve("#worker")),
      workerData: setup,
      minThreads: 1,
      maxThreads: threadsMax,
      concurrentTasksPerWorker: 1,
      // A thread that slept in Atomics.wait could not make the next call's instance. Events are as fast: 44 µs each way.
      atomics: "disabled",
      // Without it every burst ends all threads but one, and the next burst pays 40 ms to start each again.
      idleTimeout: threadLimits.idleMs,
      // Importing the SDK loads node:wasi, which warns of itself in every thread; no plugin gets WASI. And piscina would try
      // to load the thread's module by require() first: a thread that is ended within that takes the process down (V8:
      // "Module::IsGraphAsync must be used on an instantiated module").
      execArgv: ["--disable-warning=ExperimentalWarning", "--no-experimental-require-module"],
    });
    this.#piscina.on("error", onError);
    this.#piscina.on("message", (request: ModulesRequest | BridgeRequest) => {
      if ("bridgeTo" in request) return answerReads?.(request.bridgeTo);
      modules.then(
        (all) => request.modulesTo.postMessage(all, []),
        () => {},
      );
    });
  }

  /** Runs a task that is made when a thread is free for it. Throws `BUSY` when none is in time. */
  async run({ makeTask, onEnd, ...bounds }: PoolTask): Promise<WorkerReply> {
    const { until, signal, name } = bounds;
    const tooLong = (waitedMs: number): ToolError =>
      new ToolError("BUSY", `Cannot call ${name}: no thread was free for ${waitedMs} ms`);
    await this.#slots.take({ until, signal, tooLong });
    const free = (): void => void this.#slots.give();
    let task: WorkerTask;
    try {
      // Cancelled since the slot was given: nobody has listened in between.
      signal.throwIfAborted();
      task = { ...makeTask(), stamp: newStamp(), trail: this.#trails.lease() };
    } catch (error) {
      free();
      throw error;
    }
    // Cheaper than an AbortController by 9 µs.
    const killer = new EventEmitter();
    const reply = this.#piscina.run(task, { signal: killer });
    reply.then(free, free);
    try {
      return await withinBounds({ reply, stamp: task.stamp, kill: () => this.#kill(killer) }, bounds);
    } finally {
      closeTrail(task.trail);
      onEnd(task.trail);
      // Read by now; and the thread writes no more once it has answered.
      reply.then(
        () => this.#trails.giveBack(task.trail),
        () => {},
      );
    }
  }

  /** Ends the threads, whatever they do. */
  async close(): Promise<void> {
    // When a killed thread is gone, piscina starts another one, which would outlive it.
    while (this.#dying.size > 0) await Promise.all(this.#dying);
    await this.#piscina.destroy();
  }

  #kill(killer: EventEmitter): void {
    const before = this.#piscina.threads;
    killer.emit("abort");
    const after = new Set(this.#piscina.threads);
    for (const thread of before.filter((each) => !after.has(each))) this.#awaitEnd(thread);
  }

  #awaitEnd(thread: Worker): void {
    // An error that the thread died of meanwhile must not become one that nobody handles, as `once` would make it.
    const ended = new Promise<void>((resolve) => {
      thread.once("exit", () => {
        this.#dying.delete(ended);
        resolve();
      });
    });
    this.#dying.add(ended);
  }
}
