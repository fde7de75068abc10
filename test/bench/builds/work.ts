/** The work that all builds do, and what is measured of it. */
import { readdirSync, readFileSync } from "node:fs";

/** One user, or eight at the same time, each with one call after the other. */
export const kinds = ["an upsert", "upserts of 8 users", "a read", "reads of 8 users"] as const;
export type Kind = (typeof kinds)[number];

export const isRead = (kind: Kind): boolean => kind.includes("read");
export const usersOf = (kind: Kind): number => (kind.includes("8 users") ? 8 : 1);

export interface Done {
  readonly elapsedMs: number;
  /** Of each call, in milliseconds. */
  readonly times: readonly number[];
  /** Processor time of the main thread, and of all others together. */
  readonly mainMs: number;
  readonly othersMs: number;
}

/** What the parent process asks for. */
export interface Asked {
  readonly kind: Kind;
  readonly windowMs: number;
}

/** `work` returns the time of each call. */
export async function measured(work: () => Promise<number[]>): Promise<Done> {
  const [before, startMs] = [processorMs(), performance.now()];
  const times = await work();
  const elapsedMs = performance.now() - startMs;
  const after = processorMs();
  return { elapsedMs, times, mainMs: after.mainMs - before.mainMs, othersMs: after.othersMs - before.othersMs };
}

/** Of this process's threads so far. */
function processorMs(): Pick<Done, "mainMs" | "othersMs"> {
  const time = { mainMs: 0, othersMs: 0 };
  for (const thread of readdirSync("/proc/self/task")) {
    time[Number(thread) === process.pid ? "mainMs" : "othersMs"] += nanosecondsOf(thread) / 1e6;
  }
  return time;
}

function nanosecondsOf(thread: string): number {
  try {
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]);
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}
