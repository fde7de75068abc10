/** How long work holds the event loop: nobody else is served meanwhile. */
import { closeSync, openSync, readSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";

/** The longest time between two turns of a timer, in milliseconds. */
export interface Hold {
  /** Processor time of this thread: what other processes take does not count. */
  readonly computedMs: number;
  /** On the clock. */
  readonly elapsedMs: number;
  /** Of `elapsedMs`, what the engine's collector took. */
  readonly collectedMs: number;
}

interface Gap {
  readonly startMs: number;
  readonly endMs: number;
  readonly computedMs: number;
}

/** Gaps that are shorter than this are of no interest. */
const gapMsMin = 4;

/** Does work and measures the longest time for which it held the loop. Only one at a time. */
export async function longestHold(work: () => Promise<unknown>): Promise<Hold> {
  using processor = new ProcessorTime();
  const collections: { readonly startTime: number; readonly duration: number }[] = [];
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  const gaps: Gap[] = [];
  let last = { atMs: performance.now(), computedMs: processor.readMs() };
  const beat = (): void => {
    const now = { atMs: performance.now(), computedMs: processor.readMs() };
    if (now.atMs - last.atMs >= gapMsMin) {
      gaps.push({ startMs: last.atMs, endMs: now.atMs, computedMs: now.computedMs - last.computedMs });
    }
    last = now;
  };
  // Begins with a turn of its own, so that what came before does not count.
  await setImmediate();
  beat();
  gaps.length = 0;
  const timer = setInterval(beat, 1);
  try {
    await work();
  } finally {
    await setImmediate();
    beat();
    clearInterval(timer);
    collections.push(...observer.takeRecords());
    observer.disconnect();
  }
  const [longest] = gaps.toSorted((a, b) => b.computedMs - a.computedMs);
  if (longest === undefined) return { computedMs: 0, elapsedMs: 0, collectedMs: 0 };
  const within = collections.map(
    ({ startTime, duration }) => Math.min(startTime + duration, longest.endMs) - Math.max(startTime, longest.startMs),
  );
  return {
    computedMs: longest.computedMs,
    elapsedMs: longest.endMs - longest.startMs,
    collectedMs: within.reduce((sum, each) => sum + Math.max(0, each), 0),
  };
}

/** The processor time of the main thread, as Linux counts it. Elsewhere the clock, which counts others' time too. */
class ProcessorTime implements Disposable {
  readonly #file: number | null;
  readonly #text = Buffer.alloc(64);

  constructor() {
    this.#file = process.platform === "linux" ? openSync(`/proc/self/task/${process.pid}/schedstat`, "r") : null;
  }

  readMs(): number {
    if (this.#file === null) return performance.now();
    const bytes = readSync(this.#file, this.#text, 0, this.#text.length, 0);
    return Number.parseInt(this.#text.toString("latin1", 0, bytes), 10) / 1e6;
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}
