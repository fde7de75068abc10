const windowMs = 60_000;

interface Window {
  readonly endsAtMs: number;
  events: number;
}

/**
 * Allows a number of events per key in the minute that begins with the first event, whatever becomes of the system's
 * clock. At most `keysMax` keys are counted: beyond that, the key that was unused for the longest is forgotten, so many
 * strangers neither fill the memory nor keep others out.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #keysMax: number;
  readonly #counted = new Set<string>();
  readonly #windows = new Map<string, Window>();

  constructor(perMinute: number, keysMax: number) {
    this.#perMinute = perMinute;
    this.#keysMax = keysMax;
  }

  /** Counts one event. Returns the seconds to wait when there are too many, otherwise 0. */
  count(key: string): number {
    const forgotten = putLast(this.#counted, key, this.#keysMax);
    if (forgotten !== undefined) this.#windows.delete(forgotten);
    const window = this.#windowOf(key) ?? { endsAtMs: performance.now() + windowMs, events: 0 };
    this.#windows.set(key, window);
    return ++window.events > this.#perMinute ? secondsLeft(window) : 0;
  }

  /** Returns the seconds to wait when one more would be too many, otherwise 0. Counts nothing. */
  waitS(key: string): number {
    const window = this.#windowOf(key);
    return window !== undefined && window.events >= this.#perMinute ? secondsLeft(window) : 0;
  }

  #windowOf(key: string): Window | undefined {
    const window = this.#windows.get(key);
    return window !== undefined && window.endsAtMs > performance.now() ? window : undefined;
  }
}

const secondsLeft = ({ endsAtMs }: Window): number => Math.max(1, Math.ceil((endsAtMs - performance.now()) / 1_000));

/** Makes `each` the latest of the set. When the set has more than `sizeMax`, removes the oldest and returns it. */
export function putLast(latest: Set<string>, each: string, sizeMax: number): string | undefined {
  latest.delete(each);
  latest.add(each);
  const [first] = latest;
  if (latest.size <= sizeMax || first === undefined) return undefined;
  latest.delete(first);
  return first;
}
