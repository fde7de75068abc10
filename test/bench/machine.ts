/** What of the machine a reader must know to judge a figure, and its noise. None of it identifies the machine. */
import { closeSync, fdatasyncSync, fsyncSync, openSync, statfsSync, writeSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

import type { Noise, Results } from "./results.ts";
import { median, quantile, range } from "./statistics.ts";

export function machine(folder: string): Results["machine"] {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    node: process.version,
    system: process.platform,
    fileSystem: fileSystems.get(statfsSync(folder).type) ?? "unknown",
  };
}

/** The kernel's numbers of common file systems. */
const fileSystems: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
  [0x2fc12fc1, "zfs"],
  [0x1a, "apfs"],
]);

/** Flushes the folder's disk as far as one file's flush does: on ext4, the journal with all that waits. */
export function settler(folder: string): Disposable & { readonly settle: () => void } {
  const file = openSync(join(folder, "settle"), "a");
  return {
    settle: () => {
      writeSync(file, "x");
      fsyncSync(file);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

const samplesPerRound = 7;

/** A fixed computation and a fixed flush, in every round of every section. If these vary, so does everything else. */
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
      { name: "a fixed loop of computing", ...spreadOf(this.#computing) },
      { name: "a flush of 4 KiB that changes no size", ...spreadOf(this.#flushing) },
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

function spreadOf(rounds: number[][]): Omit<Noise, "name"> {
  const all = rounds.flat();
  return { median: median(all), p99: quantile(all, 0.99), spread: [...range(rounds.map(median))] };
}
