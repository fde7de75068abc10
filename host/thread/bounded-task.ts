import { threadLimits } from "../../shared/limits.ts";
import type { EndSignal } from "../values/call-ending.ts";
import { ToolError } from "../values/tool-error.ts";

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
export function withinBounds<Reply>(task: ThreadTask<Reply>, bounds: TaskBounds): Promise<Reply> {
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
