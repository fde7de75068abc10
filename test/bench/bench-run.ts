import type { NoiseProbe } from "./noise.ts";

/** The input of every section. */
export interface BenchRun {
  /** The number of rounds that count. */
  readonly rounds: number;
  /** Fewer operations and sizes. Shows that everything runs; do not quote it. */
  readonly isQuick: boolean;
  /** A folder on this machine's own disk. */
  readonly folder: string;
  readonly noise: NoiseProbe;
}
