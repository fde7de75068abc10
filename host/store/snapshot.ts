/** How an engine reads several stores as of one moment. */
import type { HoldOptions } from "./home.ts";
export interface SnapshotWays<Result> {
  /** Notes the stores' present versions, and returns a function that says whether they are the same still. */
  readonly note: () => Promise<() => boolean>;
  readonly work: () => Promise<Result>;
  /** Runs the work while nobody can change the stores. */
  readonly locked: () => Promise<Result>;
}

/** How often the work runs without locks. */
const freeRunsMax = 2;

/**
 * Runs work that only reads, and keeps no writer waiting. If someone has changed a store meanwhile, the work has perhaps
 * seen two versions, so it runs again; the last time under the locks.
 */
export async function onSnapshot<Result>(
  { until, signal }: HoldOptions,
  { note, work, locked }: SnapshotWays<Result>,
): Promise<Result> {
  for (let run = 1; run <= freeRunsMax; run++) {
    const isSame = await note();
    try {
      const result = await work();
      if (isSame()) return result;
    } catch (error) {
      // Two versions can also make the work fail.
      if (isSame() || signal?.aborted || performance.now() >= until) throw error;
    }
    signal?.throwIfAborted();
  }
  return await locked();
}
