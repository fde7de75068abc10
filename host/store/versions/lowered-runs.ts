/**
 * The runs whose trust has fallen, as the history has them: each time is a version without files. So the record of runs
 * beside the history cannot be lost alone.
 */
import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";

export interface LoweredRun {
  readonly run: string;
  readonly trust: OriginClass;
  /** When it fell last. */
  readonly atMs: number;
}

/** How many runs of a user are remembered. */
export const loweredRunsMax = 1_000;

/** Adds one to runs, of which the last to fall comes last. The first ones go if they are too many. */
export function addLowered(runs: Map<string, LoweredRun>, { run, trust, atMs }: LoweredRun): void {
  const before = runs.get(run);
  runs.delete(run);
  runs.set(run, { run, trust: lowestOf(trust, before?.trust ?? trust), atMs });
  const [oldest] = runs.keys();
  if (runs.size > loweredRunsMax && oldest !== undefined) runs.delete(oldest);
}
