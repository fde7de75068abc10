/** Runs the guest of a call: takes a thread and the time, and gives the thread the task. */
import type { LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import type { PolicyLimits } from "../plugins/policy/policy.ts";
import { inOneMemory } from "../thread/pool.ts";
import type { Pool } from "../thread/pool.ts";
import type { WorkerReply, WorkerTask } from "../thread/worker.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { UserId } from "../values/ids.ts";
import { RateLimit } from "../values/rate-limit.ts";
import type { DecidedStores } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import type { CheckedCall, GuestRuns, RunningCall } from "./asked-call.ts";

export interface GuestParts {
  readonly pool: Pool;
  readonly clock: () => number;
  /** How long a module's guests may run, by module index. */
  readonly deadlinesMs: readonly number[];
  /** The policy's limits for every call. */
  readonly limits: PolicyLimits;
  readonly onLog: (entry: LogEntry) => void;
}

/** How many deadlines of a call upkeep has: it looks at all files that a scope can hold, a call at some of them. */
const upkeepDeadlines = 6;

export function newRuns({ found, options }: CheckedCall, { deadlinesMs }: Pick<GuestParts, "deadlinesMs">): GuestRuns {
  const deadlineMs = (deadlinesMs[found.moduleIndex] ?? 0) * (options.isUpkeep === true ? upkeepDeadlines : 1);
  return { deadlineMs, leftMs: deadlineMs, atMs: options.approved?.epochMs ?? null, lastMs: null, replaced: null };
}

/** What runs from now on repeats the last run: with a deadline and at the time of that, so that it writes the same. */
export function repeat(runs: GuestRuns): void {
  runs.leftMs = runs.deadlineMs;
  runs.atMs = runs.lastMs ?? runs.atMs;
}

/** What differs between the runs of a call. */
interface RunOptions extends Required<Pick<WorkerTask, "knownSizes" | "handed" | "notesSeen">> {
  /** Changes that the guest reads as done. */
  readonly staged: readonly SizedChange[];
  /** `null` if its tool reaches none. */
  readonly stores: DecidedStores | null;
}

export interface GuestRun {
  /** The time that the guest was given. */
  readonly epochMs: number;
  readonly reply: WorkerReply;
}

/** Takes the time only when a thread is free: after that, nothing waits. Throws if the guest was stopped. */
export async function runGuest(
  { pool, clock, limits: { hostCalls, stagedBytes }, onLog }: GuestParts,
  { found, called, input, userId, options, turn, record, runs }: RunningCall,
  { staged, stores, knownSizes, handed, notesSeen }: RunOptions,
): Promise<GuestRun> {
  const { tool, moduleIndex } = found;
  const { name, scopes } = tool;
  const { until, signal } = turn;
  using thread = await pool.take(name, turn);
  turn.endWait();
  const epochMs = runs.atMs ?? clock();
  if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs) > dateMsMax) {
    throw new RangeError(`clock() returned ${epochMs}, not whole milliseconds`);
  }
  runs.lastMs = epochMs;
  // The grant is what this tool's manifest asks for. The policy has already been checked to allow it.
  const { isUpkeep: refuels = false, freedBytes = 0 } = options;
  const limits = { hostCalls, stagedBytes, refuels };
  const { export: exportName, rights } = called;
  const grant = { userId, scopes, rights, limits, freedBytes, ...(stores && { stores }) };
  const before = staged.length === 0 ? staged : await inOneMemory(staged);
  const task = {
    toolName: name,
    moduleIndex,
    exportName,
    input,
    grant,
    epochMs,
    before,
    knownSizes,
    handed,
    notesSeen,
  };
  const beganMs = performance.now();
  const bounds = { name, deadlineMs: Math.max(1, runs.leftMs), until, signal };
  using run = await thread.run(task, bounds);
  runs.leftMs -= performance.now() - beganMs;
  runs.replaced = run.replaced;
  const { outcome, trail } = run;
  record.ran(beganMs, trail, outcome instanceof ToolError ? null : outcome.fuelPolls);
  if (outcome instanceof ToolError) throw outcome;
  for (const line of outcome.log) writeLog(onLog, { ...line, ...record.source });
  signal.throwIfAborted();
  return { epochMs, reply: outcome };
}

/** The last millisecond that a JavaScript date can name. */
const dateMsMax = 8.64e15;

/** Threads that are terminated for one user in a minute. A new one costs 130 ms of CPU time, which all users pay. */
const killsPerMinute = 10;
/** Users for whom terminated threads are counted. */
const countedMax = 10_000;

/** Counts the guests that did not stop when their calls had ended, and so cost a thread. */
export class KilledGuests {
  readonly #kills = new RateLimit(killsPerMinute, countedMax);

  /** Throws `BUSY` for a user whose guests have cost too many threads. */
  refuse(userId: UserId, action: string): void {
    const waitS = this.#kills.waitS(userId);
    if (waitS === 0) return;
    const reason = `${killsPerMinute} of the user's calls in a minute did not stop, the maximum (wait ${waitS} s)`;
    throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
  }

  /** The user's next call waits for the thread that replaces the one which this call's guest has cost. */
  async pay(userId: UserId, replaced: Promise<void> | null): Promise<void> {
    if (replaced === null) return;
    this.#kills.count(userId);
    await replaced;
  }
}
