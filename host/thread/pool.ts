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
import { closeTrail, TrailStock } from "../audit/collect/trail-memory.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import type { StoreDefinition } from "../store/store.ts";
import { Slots } from "../values/slots.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { withinBounds } from "./bounded-task.ts";
import type { TaskBounds, ThreadTask } from "./bounded-task.ts";
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

/** What a thread is given, but for what it writes into while it runs. */
export type GuestTask = Omit<WorkerTask, "trail">;

/** A thread that nobody else uses. Disposing of it gives it back, unless it has a task: then it is free after that. */
export interface FreeThread extends Disposable {
  /** Resolves when the task has ended, however it did. Once only. */
  run(task: GuestTask, bounds: TaskBounds): Promise<EndedRun>;
}

/** What has become of a task. Disposing of it ends the use of the trail. */
export interface EndedRun extends Disposable {
  /** What the thread has answered, or why nobody waits for its answer any more. */
  readonly outcome: WorkerReply | ToolError;
  /** What its guest has done. Closed: nothing is added to it any more. */
  readonly trail: SharedArrayBuffer;
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

  /** Waits for a thread that is free. Throws `BUSY` when none is in time, and the signal's reason. */
  async take(name: string, { until, signal }: Pick<TaskBounds, "until" | "signal">): Promise<FreeThread> {
    const tooLong = (waitedMs: number): ToolError =>
      new ToolError("BUSY", `Cannot call ${name}: no thread was free for ${waitedMs} ms`);
    await this.#slots.take({ until, signal, tooLong });
    if (signal.aborted) {
      // Cancelled since the slot was given: nobody has listened in between.
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

  #start(task: WorkerTask): ThreadTask<WorkerReply> {
    // Cheaper than an AbortController by 9 µs.
    const killer = new EventEmitter();
    const reply = this.#piscina.run(task, { signal: killer });
    const free = (): void => void this.#slots.give();
    reply.then(free, free);
    return { reply, trail: task.trail, kill: () => this.#kill(killer) };
  }

  async #ended(task: ThreadTask<WorkerReply>, bounds: TaskBounds): Promise<EndedRun> {
    const { reply, trail } = task;
    const outcome = await withinBounds(task, bounds).catch((error: unknown) =>
      asToolError(error, `call ${bounds.name}`),
    );
    closeTrail(trail);
    // The thread writes no more once it has answered; one that was killed may have written its last anywhere.
    const giveBack = (): void => this.#trails.giveBack(trail);
    return { outcome, trail, [Symbol.dispose]: () => void reply.then(giveBack, () => {}) };
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
