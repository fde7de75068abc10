/** Counts in windows of a minute. Only this file imports the package for it. */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

import { httpLimits } from "./http-limits.ts";

/**
 * Allows a number of events per key in the minute that begins with the first event. The number of keys is bounded:
 * beyond it, the key that was unused for the longest is forgotten, so many strangers neither fill the memory nor keep
 * others out. Its timers do not keep the process alive.
 */
export class RateLimit {
  readonly #limiter: RateLimiterMemory;
  readonly #counted = new Set<string>();

  constructor(perMinute: number) {
    this.#limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  }

  /** Counts one event. Returns the seconds to wait when there are too many, otherwise 0. */
  async count(key: string): Promise<number> {
    const forgotten = putLast(this.#counted, key);
    if (forgotten !== undefined) await this.#limiter.delete(forgotten);
    try {
      await this.#limiter.consume(key);
      return 0;
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return waitS(refused);
    }
  }

  /** Returns the seconds to wait when one more would be too many, otherwise 0. Counts nothing. */
  async waitS(key: string): Promise<number> {
    const counted = await this.#limiter.get(key);
    return counted && counted.remainingPoints <= 0 ? waitS(counted) : 0;
  }
}

const waitS = ({ msBeforeNext }: RateLimiterRes): number => Math.max(1, Math.ceil(msBeforeNext / 1000));

/** Makes `each` the latest of the set. When the set is too large, removes the oldest and returns it. */
export function putLast(latest: Set<string>, each: string): string | undefined {
  latest.delete(each);
  latest.add(each);
  const [first] = latest;
  if (latest.size <= httpLimits.countedMax || first === undefined) return undefined;
  latest.delete(first);
  return first;
}
