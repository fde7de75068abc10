/** Counts in windows of a minute, and the only file that imports the package for it. */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

import { httpLimits } from "./http-limits.ts";

/**
 * As many as allowed in the minute that begins with the first. Who counts is bounded: beyond, the one that was first
 * counted is forgotten, so that a crowd of strangers costs no memory and keeps nobody out. Its timers keep no process alive.
 */
export class RateLimit {
  readonly #limiter: RateLimiterMemory;
  readonly #counted = new Set<string>();

  constructor(perMinute: number) {
    this.#limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  }

  /** Counts one. The seconds to wait when it is too many, otherwise 0. */
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

  /** The seconds to wait when one more would be too many, otherwise 0. Counts nothing. */
  async waitS(key: string): Promise<number> {
    const counted = await this.#limiter.get(key);
    return counted && counted.remainingPoints <= 0 ? waitS(counted) : 0;
  }
}

const waitS = ({ msBeforeNext }: RateLimiterRes): number => Math.max(1, Math.ceil(msBeforeNext / 1000));

/** Makes it the latest of the set. The first one goes where there is no room for all, and is returned. */
export function putLast(latest: Set<string>, each: string): string | undefined {
  latest.delete(each);
  latest.add(each);
  const [first] = latest;
  if (latest.size <= httpLimits.countedMax || first === undefined) return undefined;
  latest.delete(first);
  return first;
}
