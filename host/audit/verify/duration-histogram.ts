/**
 * Durations of any number, in a few hundred counters: each counter is for durations at most 5 % apart, and counts from a
 * microsecond to three weeks.
 */
export class DurationHistogram {
  readonly #counts = new Map<number, number>();
  #total = 0;
  maxMs = 0;

  add(durationMs: number): void {
    const step = stepOf(durationMs);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.#total++;
    this.maxMs = Math.max(this.maxMs, durationMs);
  }

  /** The middle of the counter that holds the median; 0 without durations. */
  medianMs(): number {
    let before = 0;
    for (const [step, count] of [...this.#counts].toSorted(([a], [b]) => a - b)) {
      before += count;
      if (before * 2 >= this.#total) return Math.min(middleOf(step), this.maxMs);
    }
    return 0;
  }
}

const growth = 1.05;
const [leastMs, mostMs] = [0.001, 2 ** 31];

const stepOf = (durationMs: number): number =>
  Math.floor(Math.log(Math.min(Math.max(durationMs, leastMs), mostMs)) / Math.log(growth));

const middleOf = (step: number): number => growth ** (step + 0.5);
