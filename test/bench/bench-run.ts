import type { NoiseProbe } from "./noise.ts";

/** What every section is given. */
export interface BenchRun {
  /** How many rounds count. */
  readonly rounds: number;
  /** Fewer operations, fewer sizes: to see that all runs, not to quote. */
  readonly isQuick: boolean;
  /** A folder on this machine's own disk. */
  readonly folder: string;
  readonly noise: NoiseProbe;
}
