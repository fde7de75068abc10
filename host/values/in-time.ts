import type { Patience } from "./slots.ts";
import type { ToolError } from "./tool-error.ts";

/**
 * Waits for an answer that can take forever. Rejects with what the patience says when the time is over or the signal is
 * aborted; the answer then counts no more.
 */
export async function inTime<Answer>(answer: Promise<Answer>, { until, signal, tooLong }: Patience): Promise<Answer> {
  const waitMs = Math.max(0, Math.ceil(until - performance.now()));
  let leave = (): void => {};
  const limit = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(tooLong(waitMs)), waitMs);
    const cancel = (): void => reject(signal?.reason as ToolError);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    leave = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    leave();
  }
}
