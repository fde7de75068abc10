import type { Patience } from "./slots.ts";

/**
 * Waits for an answer that can take forever. Rejects with what the patience says when the time is over or the signal is
 * aborted; the answer then counts no more.
 */
export async function inTime<Answer>(answer: Promise<Answer>, { until, signal, tooLong }: Patience): Promise<Answer> {
  const waitMs = Math.max(0, Math.ceil(until - performance.now()));
  return await new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
    const giveUp = (reason: unknown): void => {
      leave();
      reject(reason);
    };
    const timer = setTimeout(() => giveUp(tooLong(waitMs)), waitMs);
    const cancel = (): void => giveUp(signal?.reason);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    answer.finally(leave).then(resolve, reject);
  });
}
