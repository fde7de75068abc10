/**
 * The machine's own noise: a fixed computation and a fixed flush, in every round of every section. If these vary, so
 * does everything else.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { Noise } from "./results.ts";
import { summarise } from "./statistics.ts";

const samplesPerRound = 7;

export class NoiseProbe implements Disposable {
  readonly #file: number;
  readonly #page = Buffer.alloc(4096, "x");
  readonly #computing: number[][] = [];
  readonly #flushing: number[][] = [];

  constructor(folder: string) {
    this.#file = openSync(join(folder, "noise"), "w");
  }

  sampleRound(): void {
    this.#computing.push(timesOf(compute));
    this.#flushing.push(timesOf(() => this.#flush()));
  }

  found(): Noise[] {
    return [
      { name: "a fixed loop of computing", ...withoutCount(this.#computing) },
      { name: "a flush of 4 KiB that changes no size", ...withoutCount(this.#flushing) },
    ];
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #flush(): void {
    writeSync(this.#file, this.#page, 0, this.#page.length, 0);
    fdatasyncSync(this.#file);
  }
}

/** About two milliseconds. */
function compute(): void {
  let sum = 0;
  for (let turn = 0; turn < 2_000_000; turn++) sum = (sum + Math.imul(turn, turn ^ sum)) | 0;
  // Never true, but the compiler cannot know that.
  if (sum === 0.5) throw new RangeError("Arithmetic is broken");
}

function timesOf(work: () => void): number[] {
  return Array.from({ length: samplesPerRound }, () => {
    const startMs = performance.now();
    work();
    return performance.now() - startMs;
  });
}

function withoutCount(rounds: number[][]): Omit<Noise, "name"> {
  const { median, p99, spread } = summarise(rounds);
  return { median, p99, spread: [...spread] };
}
