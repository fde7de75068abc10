import { RateLimit } from "../values/rate-limit.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";

/** Threads that are terminated for one user in a minute. A new one costs 130 ms of CPU time, which all users pay. */
export const killsPerMinute = 10;
/** Users for whom terminated threads are counted. */
const countedMax = 10_000;

/** Counts the guests that did not stop when their calls had ended, and so cost a thread. */
export class KilledGuests {
  readonly #kills = new RateLimit(killsPerMinute, countedMax);

  /** Throws `BUSY` for a user whose guests have cost too many threads. */
  refuse(userId: UserId, action: string): void {
    const waitS = this.#kills.waitS(userId);
    if (waitS === 0) return;
    const reason = `${killsPerMinute} of the user's calls in a minute did not stop, the maximum (wait ${waitS} s)`;
    throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
  }

  /** The user's next call waits for the thread that replaces the one which this call's guest has cost. */
  async pay(userId: UserId, replaced: Promise<void> | null): Promise<void> {
    if (replaced === null) return;
    this.#kills.count(userId);
    await replaced;
  }
}
