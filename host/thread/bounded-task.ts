import { threadLimits } from "../../shared/limits.ts";
import { runningMs } from "../audit/collect/trail-memory.ts";
import { ToolError } from "../values/tool-error.ts";

/** A task that was handed to a thread. */
export interface ThreadTask<Reply> {
  /** Rejects when the thread is ended. */
  readonly reply: Promise<Reply>;
  /** Where the thread writes down that it has begun. */
  readonly trail: SharedArrayBuffer;
  /** Ends the thread that works on it. */
  kill(): void;
}

export interface TaskBounds {
  /** How messages name the task. */
  readonly name: string;
  /** Counted from the moment the thread begins with it. */
  readonly deadlineMs: number;
  /** When to give up waiting for a thread, on the clock of `performance.now()`. */
  readonly until: number;
  /** Its reason is what the task ends with. */
  readonly signal: AbortSignal;
}

/** The reply of a task, or why nobody waits for it any more. */
export function withinBounds<Reply>(task: ThreadTask<Reply>, bounds: TaskBounds): Promise<Reply> {
  const { deadlineMs, until, signal, name } = bounds;
  return new Promise((resolve, reject) => {
    let hasReplied = false;
    let timer: NodeJS.Timeout;
    let [dueMs, hasLookedLate] = [0, false];
    const lookIn = (ms: number): void => {
      dueMs = performance.now() + Math.ceil(ms);
      timer = setTimeout(look, Math.ceil(ms));
    };
    const look = (): void => {
      if (signal.aborted) return end(signal.reason as ToolError);
      const failure = overrun(runningMs(task.trail));
      if (typeof failure === "number") return lookIn(failure);
      // Where this side was kept from its events for long, the thread may have waited for it: once, it gets some more time.
      if (!hasLookedLate && performance.now() - dueMs > threadLimits.lingerMs) {
        hasLookedLate = true;
        return lookIn(threadLimits.lingerMs);
      }
      // The reply may lie there already.
      setImmediate(() => end(failure));
    };
    const end = (failure: ToolError): void => {
      if (hasReplied) return;
      reject(failure);
      task.kill();
    };
    /** What ends the task now, or in how many milliseconds to look again. */
    const overrun = (ranMs: number | null): ToolError | number => {
      if (ranMs !== null && ranMs < deadlineMs) return deadlineMs - ranMs;
      if (ranMs === null && performance.now() < until) return Math.min(deadlineMs, until - performance.now());
      const [code, reason] =
        ranMs === null
          ? (["BUSY", "no thread was free in time"] as const)
          : (["DEADLINE_EXCEEDED", `it ran for over ${deadlineMs} ms`] as const);
      return new ToolError(code, `Cannot finish ${name}: ${reason}`);
    };
    // A new thread costs more than most calls take: a guest that is about to end may do so. Nobody uses its reply.
    const cancel = (): void => {
      clearTimeout(timer);
      lookIn(threadLimits.lingerMs);
    };
    const tidyUp = (): void => {
      hasReplied = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    };
    task.reply.finally(tidyUp).then(resolve, reject);
    signal.addEventListener("abort", cancel);
    lookIn(deadlineMs);
  });
}
