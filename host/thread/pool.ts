/** Runs guests in worker threads: which task is next, which has waited too long, and which has run too long. */
import { availableParallelism } from "node:os";

import { threadLimits } from "../../shared/limits.ts";
import type { Trail } from "../audit/collect/trail.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import type { StoreDefinition } from "../store/definition.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import { Slots, giveTurn } from "../values/turns.ts";
import type { EndSignal } from "../values/turns.ts";
import { Threads } from "./threads.ts";
import type { GuestThread, ThreadTask } from "./threads.ts";
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
  /** Called when a thread without a call dies, and once for each reason why none can start. */
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
  /** What the guest has done. Closed: nothing more is added. */
  readonly trail: Trail;
  /** Set if the thread has ended: resolves when another one is ready in its place, or when that takes long. */
  readonly replaced: Promise<void> | null;
}

export class Pool {
  readonly #threads: Threads;
  /** One for each task. */
  readonly #slots: Slots;

  constructor(setup: WorkerSetup, { modules, isWarm = false, answerReads, ...options }: PoolOptions) {
    const { threadsMax = availableParallelism(), onThreads, onError } = options;
    this.#slots = new Slots(threadsMax);
    const onRequest = (request: ModulesRequest | BridgeRequest): void => {
      if ("bridgeTo" in request) return answerReads?.(request.bridgeTo);
      modules.then(
        (all) => request.modulesTo.postMessage(all, []),
        () => {},
      );
    };
    const max = isWarm ? threadsMax + 1 : threadsMax;
    // Whoever waits for a slot would wait for a thread next.
    const onRefused = (error: ToolError): void => this.#slots.refuse(error);
    this.#threads = new Threads({ setup, onRequest, onThreads, onRefused, onError, min: isWarm ? max : 1, max });
  }

  /**
   * Waits for a free thread. Throws `BUSY` if none is free in time, `INTERNAL` if none can start, or the signal's reason.
   */
  async take(name: string, { until, signal }: Pick<TaskBounds, "until" | "signal">): Promise<FreeThread> {
    const tooLong = (waitedMs: number): ToolError =>
      this.#threads.late(() => new ToolError("BUSY", `Cannot call ${name}: no thread was free for ${waitedMs} ms`));
    await this.#slots.take({ until, signal, tooLong });
    // With a slot, a call waits for no other call, but perhaps for a thread to start: that has a moment in any case.
    const startUntil = Math.max(until, performance.now() + threadLimits.slowStartMs);
    const thread = await this.#threads.take({ until: startUntil, signal, tooLong }).catch((error: unknown) => {
      this.#slots.give();
      throw error;
    });
    const leave = (): void => {
      this.#threads.give(thread);
      this.#slots.give();
    };
    if (signal.aborted) {
      // Cancelled after the thread was given, when nothing listened to the signal.
      leave();
      throw signal.reason;
    }
    let isUsed = false;
    return {
      run: (task, bounds) => {
        isUsed = true;
        return this.#run(thread, task, { bounds, leave });
      },
      [Symbol.dispose]: () => {
        if (!isUsed) leave();
      },
    };
  }

  async #run(
    thread: GuestThread,
    task: WorkerTask,
    { bounds, leave }: { readonly bounds: TaskBounds; readonly leave: () => void },
  ): Promise<EndedRun> {
    const running = thread.run(task);
    const outcome = await withinBounds(running, bounds).catch((error: unknown) =>
      asToolError(error, `call ${bounds.name}`),
    );
    running.close();
    const { reply, trail } = running;
    const replaced = thread.hasEnded ? this.#replaced() : null;
    return { outcome, trail, replaced, [Symbol.dispose]: () => void reply.then(leave, leave) };
  }

  /** Resolves when a thread is ready that has no task, or when that is not soon. */
  async #replaced(): Promise<void> {
    const until = performance.now() + threadLimits.slowStartMs;
    await this.#threads.take({ until, tooLong: noneReady }).then(
      (thread) => this.#threads.give(thread),
      () => {},
    );
  }

  /** Terminates all threads, also busy ones. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

const noneReady = (): ToolError => new ToolError("BUSY", "Cannot replace a thread: none is ready");

/**
 * The same changes, with their contents in memory that moves to a thread. Whatever else it gets is copied in one piece: an
 * import can have 64 MiB.
 */
export async function inOneMemory(changes: readonly SizedChange[]): Promise<SizedChange[]> {
  const sizes = changes.map((change) => bytesIn(change)?.length ?? 0);
  const all = new ArrayBuffer(sizes.reduce((sum, size) => sum + size, 0));
  const moved: SizedChange[] = [];
  let at = 0;
  for (const change of changes) {
    await giveTurn();
    const content = bytesIn(change);
    if (content === null) {
      moved.push(change);
      continue;
    }
    const copy = new Uint8Array(all, at, content.length);
    copy.set(content);
    at += content.length;
    moved.push(Object.assign({}, change, { content: copy }));
  }
  return moved;
}

const bytesIn = (change: SizedChange): Uint8Array | null =>
  change.kind === "write" && typeof change.content !== "string" ? change.content : null;

export interface TaskBounds {
  /** The task's name in error messages. */
  readonly name: string;
  /** Counted from the moment the thread begins with it. */
  readonly deadlineMs: number;
  /** When to stop waiting for a thread, on the clock of `performance.now()`. */
  readonly until: number;
  /** Its reason is the error with which the task ends. */
  readonly signal: EndSignal;
}

/**
 * Resolves to the reply of a task. Rejects with `BUSY` or `DEADLINE_EXCEEDED` when the task exceeds its bounds, with
 * the signal's reason, or with the task's own error.
 *
 * A task that is to end gets no more answers, and its guest stops when it notices that. Only a guest that does not stop
 * in time loses its thread.
 */
function withinBounds<Reply>(task: ThreadTask<Reply>, bounds: TaskBounds): Promise<Reply> {
  const { deadlineMs, until, signal, name } = bounds;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    let ending: ToolError | null = null;
    let [hasReplied, dueMs, hasLookedLate] = [false, 0, false];
    const lookIn = (ms: number): void => {
      dueMs = performance.now() + Math.ceil(ms);
      timer = setTimeout(look, Math.ceil(ms));
    };
    const look = (): void => {
      const failure = overrun(task.runningMs());
      if (typeof failure === "number") return lookIn(failure);
      // If the main thread's event loop was blocked for long, the worker may have waited for it: once, it gets more
      // time.
      if (!hasLookedLate && performance.now() - dueMs > threadLimits.lingerMs) {
        hasLookedLate = true;
        return lookIn(threadLimits.lingerMs);
      }
      // The reply can already be in the event queue.
      setImmediate(() => end(failure));
    };
    const end = (failure: ToolError): void => {
      if (hasReplied || ending !== null) return;
      ending = failure;
      clearTimeout(timer);
      task.close();
      timer = setTimeout(() => setImmediate(kill), threadLimits.lingerMs);
    };
    const kill = (): void => {
      if (!hasReplied) task.kill();
    };
    /** The error that ends the task now, or the milliseconds until the next check. */
    const overrun = (ranMs: number | null): ToolError | number => {
      if (ranMs !== null && ranMs < deadlineMs) return deadlineMs - ranMs;
      if (ranMs === null && performance.now() < until) return Math.min(deadlineMs, until - performance.now());
      const [code, reason] =
        ranMs === null
          ? (["BUSY", "no thread was free in time"] as const)
          : (["DEADLINE_EXCEEDED", `it ran for over ${deadlineMs} ms`] as const);
      return new ToolError(code, `Cannot finish ${name}: ${reason}`);
    };
    const cancel = (): void => end(signal.reason as ToolError);
    const tidyUp = (): void => {
      hasReplied = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    };
    task.reply.finally(tidyUp).then(
      (reply) => (ending === null ? resolve(reply) : reject(ending)),
      (error: unknown) => reject(ending ?? error),
    );
    signal.addEventListener("abort", cancel);
    lookIn(deadlineMs);
    // Ended while the input was staged: whoever listens later hears nothing.
    if (signal.aborted) cancel();
  });
}
