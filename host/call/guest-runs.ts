/** Runs the guest of a call: takes a thread and the time, and gives the thread the task. */
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { LogLine } from "../log/log-entry.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { PolicyLimits } from "../plugins/policy/policy.ts";
import type { CalledExport } from "../plugins/tool-commands.ts";
import type { Handed } from "../store/handed.ts";
import type { KnownSizes } from "../store/scope-size.ts";
import type { Pool } from "../thread/pool.ts";
import type { WorkerReply, WorkerTask } from "../thread/worker.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { DecidedStores } from "../values/decided-stores.ts";
import { RateLimit } from "../values/rate-limit.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { UserId } from "../values/user-id.ts";
import type { Turn } from "./admission.ts";

export interface GuestRunsParts {
  readonly pool: Pool;
  readonly clock: () => number;
  /** How long a module's guests may run, by module index. */
  readonly deadlinesMs: readonly number[];
  /** The policy's limits for every call. */
  readonly limits: PolicyLimits;
}

/** A call whose guest can run, once or several times. */
interface RunnableCall {
  readonly userId: UserId;
  readonly found: CatalogTool;
  readonly called: CalledExport;
  /** JSON text. */
  readonly input: string;
  readonly turn: Turn;
  readonly record: CallRecord;
  /** The owner of the data has asked for it: it can take longer, and fuel lasts for each file that it reads. */
  readonly isUpkeep: boolean;
  readonly log: (lines: readonly LogLine[]) => void;
  /** The call's time, if it is not now. */
  readonly atMs?: number | undefined;
}

/** What differs between the runs of a call. */
interface RunOptions {
  readonly knownSizes: KnownSizes;
  readonly handed?: Handed | null;
  readonly freedBytes?: number | undefined;
  /** Prepares changes that the guest reads as done. */
  readonly stage?: ((epochMs: number) => Promise<readonly SizedChange[]>) | undefined;
  readonly stores?: DecidedStores;
  /** Whether the reply says which files of the user were read, even if nothing changes. */
  readonly notesSeen?: boolean;
}

interface GuestRun {
  /** The time that the guest was given. */
  readonly epochMs: number;
  readonly staged: readonly SizedChange[];
  readonly reply: WorkerReply;
}

/** How many deadlines of a call upkeep has: it looks at all files that a scope can hold, a call at some of them. */
const upkeepDeadlines = 6;

/** The runs of one call, which share its deadline. */
export class GuestRuns {
  readonly #parts: GuestRunsParts;
  readonly #call: RunnableCall;
  readonly #deadlineMs: number;
  #leftMs: number;
  /** The call's time; `null` if each run takes the present time. */
  #atMs: number | null;
  /** The time of the last run. */
  #lastMs: number | null = null;
  #replaced: Promise<void> | null = null;

  constructor(parts: GuestRunsParts, call: RunnableCall) {
    this.#parts = parts;
    this.#call = call;
    const deadlineMs = parts.deadlinesMs[call.found.moduleIndex] ?? 0;
    this.#deadlineMs = call.isUpkeep ? deadlineMs * upkeepDeadlines : deadlineMs;
    this.#leftMs = this.#deadlineMs;
    this.#atMs = call.atMs ?? null;
  }

  /** What runs from now on repeats the last run: with a deadline and at the time of that, so that it writes the same. */
  repeat(): void {
    this.#leftMs = this.#deadlineMs;
    this.#atMs = this.#lastMs ?? this.#atMs;
  }

  /**
   * Takes the time and makes the host's own changes only when a thread is free: after that, nothing waits. Throws if
   * the guest was stopped.
   */
  async run({ knownSizes, handed = null, stage, ...granted }: RunOptions): Promise<GuestRun> {
    const { found, turn, record, log } = this.#call;
    const { until, signal } = turn;
    using thread = await this.#parts.pool.take(found.tool.name, turn);
    turn.endWait();
    const task = this.#task(granted);
    this.#lastMs = task.epochMs;
    const staged = (await stage?.(task.epochMs)) ?? [];
    const before = staged.length > 0 ? await inSharedMemory(staged) : [];
    const bounds = { name: found.tool.name, deadlineMs: Math.max(1, this.#leftMs), until, signal };
    const beganMs = performance.now();
    record.guestBegins();
    using run = await thread.run({ ...task, before, knownSizes, handed }, bounds);
    this.#leftMs -= performance.now() - beganMs;
    record.guestEnded(run.trail);
    this.#replaced = run.replaced;
    const { outcome } = run;
    if (outcome instanceof ToolError) throw outcome;
    record.used(outcome.fuelPolls);
    log(outcome.log);
    signal.throwIfAborted();
    return { epochMs: task.epochMs, staged, reply: outcome };
  }

  /** Set if a guest did not stop and lost its thread: resolves when another thread is ready. */
  get replaced(): Promise<void> | null {
    return this.#replaced;
  }

  #task({ freedBytes = 0, stores, notesSeen = false }: Omit<RunOptions, "knownSizes">): WorkerTask {
    const { found, called, input, userId, isUpkeep: refuels } = this.#call;
    const { tool, moduleIndex } = found;
    const epochMs = this.#atMs ?? this.#parts.clock();
    if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs) > dateMsMax) {
      throw new RangeError(`clock() returned ${epochMs}, not whole milliseconds`);
    }
    // The grant is what this tool's manifest asks for. The policy has already been checked to allow it.
    const { hostCalls, stagedBytes } = this.#parts.limits;
    const limits = { hostCalls, stagedBytes, refuels };
    const grant = { userId, scopes: tool.scopes, rights: called.rights, limits, freedBytes, ...(stores && { stores }) };
    return { toolName: tool.name, moduleIndex, exportName: called.export, input, grant, epochMs, notesSeen };
  }
}

/** The last millisecond that a JavaScript date can name. */
const dateMsMax = 8.64e15;

/**
 * The same changes, with their contents in memory that a thread reads as well. Whatever else it gets is copied in one piece:
 * an import can have 64 MiB.
 */
async function inSharedMemory(changes: readonly SizedChange[]): Promise<SizedChange[]> {
  const sizes = changes.map((change) => bytesIn(change)?.length ?? 0);
  const all = new SharedArrayBuffer(sizes.reduce((sum, size) => sum + size, 0));
  const shared: SizedChange[] = [];
  let at = 0;
  for (const change of changes) {
    await giveTurn();
    const content = bytesIn(change);
    if (content === null) {
      shared.push(change);
      continue;
    }
    const copy = new Uint8Array(all, at, content.length);
    copy.set(content);
    at += content.length;
    shared.push(Object.assign({}, change, { content: copy }));
  }
  return shared;
}

const bytesIn = (change: SizedChange): Uint8Array | null =>
  change.kind === "write" && typeof change.content !== "string" ? change.content : null;

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
