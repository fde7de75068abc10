import type { TimelineBucket } from "./log-summary.ts";

const minuteMs = 60_000;
/** The possible lengths of a bucket: minutes, then hours, days, weeks. Each is a multiple of the one before it. */
const widthsMs = [1, 5, 15, 60, 6 * 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * minuteMs);

type Counts = Pick<TimelineBucket, "calls" | "failed" | "denials" | "refused">;

/** Counts over time. When there are too many buckets, they become wider, so a timeline has a bounded size. */
export class Timeline {
  readonly #bucketsMax: number;
  #bucketMs = minuteMs;
  #buckets = new Map<number, Counts>();

  constructor(bucketsMax: number) {
    this.#bucketsMax = bucketsMax;
  }

  /** `time` has the format of a record's time. That format allows dates that do not exist, which are ignored. */
  add(time: string, counts: Partial<Counts>): void {
    const epochMs = Date.parse(time);
    if (Number.isNaN(epochMs)) return;
    this.#addTo(Math.floor(epochMs / this.#bucketMs), counts);
    while (this.#span().length > this.#bucketsMax) this.#widen();
  }

  result(): { bucketMs: number; buckets: TimelineBucket[] } {
    const { first, length } = this.#span();
    const buckets = Array.from({ length }, (_, at) => ({
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

  /** From the first bucket to the last, including empty ones. */
  #span(): { first: number; length: number } {
    if (this.#buckets.size === 0) return { first: 0, length: 0 };
    const first = Math.min(...this.#buckets.keys());
    return { first, length: Math.max(...this.#buckets.keys()) - first + 1 };
  }

  #widen(): void {
    const before = this.#bucketMs;
    this.#bucketMs = widthsMs.find((widthMs) => widthMs > before) ?? before * 2;
    const buckets = this.#buckets;
    this.#buckets = new Map();
    for (const [index, counts] of buckets) this.#addTo(Math.floor((index * before) / this.#bucketMs), counts);
  }
}

const nothing: Counts = { calls: 0, failed: 0, denials: 0, refused: 0 };
