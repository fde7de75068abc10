import type { TimelineBucket } from "./log-summary.ts";

const minuteMs = 60_000;
/** How long a bucket may be: minutes, then hours, days, weeks. Each is a multiple of the one before it. */
const widthsMs = [1, 5, 15, 60, 6 * 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * minuteMs);

type Counts = Pick<TimelineBucket, "calls" | "failed" | "denials" | "refused">;

/** Counts over time. When the buckets become too many they become wider: a timeline of any log has a bounded size. */
export class Timeline {
  readonly #bucketsMax: number;
  #bucketMs = minuteMs;
  #buckets = new Map<number, Counts>();

  constructor(bucketsMax: number) {
    this.#bucketsMax = bucketsMax;
  }

  add(epochMs: number, counts: Partial<Counts>): void {
    this.#addTo(Math.floor(epochMs / this.#bucketMs), counts);
    while (this.#span() > this.#bucketsMax) this.#widen();
  }

  result(): { bucketMs: number; buckets: TimelineBucket[] } {
    const [first] = this.#ends();
    const buckets = Array.from({ length: this.#span() }, (_, at) => ({
      from: new Date((first + at) * this.#bucketMs).toISOString(),
      ...(this.#buckets.get(first + at) ?? nothing),
    }));
    return { bucketMs: this.#bucketMs, buckets };
  }

  #addTo(index: number, { calls = 0, failed = 0, denials = 0, refused = 0 }: Partial<Counts>): void {
    const sum = this.#buckets.get(index) ?? nothing;
    this.#buckets.set(index, {
      calls: sum.calls + calls,
      failed: sum.failed + failed,
      denials: sum.denials + denials,
      refused: sum.refused + refused,
    });
  }

  #ends(): [number, number] {
    const indexes = [...this.#buckets.keys()];
    return [Math.min(...indexes), Math.max(...indexes)];
  }

  /** From the first bucket to the last, those without any counts included. */
  #span(): number {
    if (this.#buckets.size === 0) return 0;
    const [first, last] = this.#ends();
    return last - first + 1;
  }

  #widen(): void {
    const before = this.#bucketMs;
    this.#bucketMs = widthsMs.find((widthMs) => widthMs > before) ?? before * 2;
    const buckets = [...this.#buckets];
    this.#buckets = new Map();
    for (const [index, counts] of buckets) this.#addTo(Math.floor((index * before) / this.#bucketMs), counts);
  }
}

const nothing: Counts = { calls: 0, failed: 0, denials: 0, refused: 0 };
