/** Runs one call of a tool for a user: in the user's turn, under the lock, with a commit at the end. */
import { queueLimits } from "../../shared/limits.ts";
import type { CallAudit } from "../audit/collect/call-audit.ts";
import { grantFor } from "../guest/grant.ts";
import { causeLines } from "../log/cause-line.ts";
import type { LogEntry } from "../log/log-entry.ts";
import type { LogLine } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import type { CatalogTool } from "../plugins/catalog.ts";
import type { PolicyLimits } from "../plugins/policy/policy.ts";
import type { HeldReader, HeldUser, HoldOptions, Store } from "../store/store.ts";
import type { Pool, PoolTask } from "../thread/pool.ts";
import { Slots } from "../thread/slots.ts";
import type { Patience } from "../thread/slots.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { UserId } from "../values/user-id.ts";
import { CallControl, closedMeanwhile } from "./call-control.ts";
import { CallerSignals } from "./caller-signals.ts";
import { encodeInput } from "./encode-input.ts";
import { UserQueue } from "./user-queue.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import type { WaitingLimits } from "./waiting-calls.ts";

export interface CallRunnerParts {
  readonly store: Store;
  readonly pool: Pool;
  readonly clock: () => number;
  readonly onLog: (entry: LogEntry) => void;
  /** How long a call waits for its turn, the lock and a thread. */
  readonly waitMs: number;
  readonly waitingLimits: WaitingLimits;
  /** How long a module's guests may run, by the module's index. */
  readonly deadlinesMs: readonly number[];
  /** What the policy leaves to every call. */
  readonly limits: PolicyLimits;
}

export interface RunOptions {
  /** Told what the call does. */
  readonly audit: CallAudit;
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Changes of the host's own that become durable together with the guest's. */
  readonly alsoCommit?: readonly SizedChange[];
  /** Asked under the user's lock, before the guest runs. `epochMs` is the time that the guest is given. */
  readonly stage?: (reader: HeldReader, epochMs: number) => Promise<StagedByHost>;
  /** Looks at the user's files as a crash has left them, and commits nothing. */
  readonly isLookingOnly?: boolean;
  /** Takes nothing for granted that the store remembers of the user. */
  readonly isThorough?: boolean;
}

/** Changes of the host's own that the guest finds done, and that become durable together with its own. */
export interface StagedByHost {
  readonly changes: readonly SizedChange[];
  /** What they were made from. */
  readonly seen: readonly Seen[];
}

const nothingStaged: StagedByHost = { changes: [], seen: [] };

/** How messages and the log name what is done, and what its input weighs while it waits. */
export interface HoldLabel {
  readonly action: string;
  readonly tool: string;
  readonly callId: string;
  readonly inputBytes?: number;
}

/** Whoever holds a user says which scopes are meant: one that is mounted has a lock of its own. */
type PlaceOptions = Omit<HoldOptions, "until"> & Required<Pick<HoldOptions, "scopes">>;

/** A call whose turn has come. */
interface Call {
  /** It does not wait any more. */
  begin(): void;
  readonly until: number;
  readonly signal: AbortSignal;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #queue = new UserQueue();
  readonly #waiting: WaitingCalls;
  readonly #signals = new CallerSignals();
  readonly #held = new Slots(queueLimits.usersHeldMax);
  readonly #admitted = new Set<CallControl>();
  #isEnding = false;

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
    this.#waiting = new WaitingCalls(parts.waitingLimits);
  }

  /** Throws `ToolError` for what keeps the guest from running; what the guest answers is the result. */
  async run(found: CatalogTool, input: unknown, userId: UserId, options: RunOptions): Promise<ToolResult> {
    const {
      audit,
      signal,
      isLookingOnly = false,
      isThorough = false,
      alsoCommit = [],
      stage = async () => nothingStaged,
    } = options;
    const { callId } = audit;
    const { name, rights, scopes } = found.tool;
    const text = encodeInput(name, input, this.#parts.limits.inputBytes);
    const writes = !isLookingOnly && rights.some((right) => right === "write" || right === "trash");
    return await this.#admit(
      { action: `call ${name}`, tool: name, callId, inputBytes: Buffer.byteLength(text) },
      userId,
      { scopes, writes, isLookingOnly, isThorough, signal },
      async (held, call) => {
        const deadlineMs = this.#parts.deadlinesMs[found.moduleIndex] ?? 0;
        if (held.isApart) audit.goesToMount();
        const task = this.#taskFor(found, text, userId);
        const staged = await stage(held.reader, task.epochMs);
        const makeTask = (): ReturnType<PoolTask["makeTask"]> => {
          call.begin();
          return staged.changes.length > 0 ? { ...task, before: staged.changes } : task;
        };
        const onEnd = (trail: SharedArrayBuffer): void => audit.guestEnded(trail);
        const reply = await this.#parts.pool.run({ name, deadlineMs, ...call, makeTask, onEnd });
        const { envelope, changes, seen, log, fuelPolls } = reply;
        audit.used(fuelPolls);
        this.#log(log, { tool: name, userId, callId });
        call.signal.throwIfAborted();
        if (envelope.ok && writes) {
          const all = [...staged.changes, ...changes, ...alsoCommit];
          await audit.commit(all, () => held.commit(all, [...seen, ...staged.seen]));
        }
        return resultOf(envelope);
      },
    );
  }

  /** Does the host's own work on a user's files, in the user's turn and under the lock. */
  hold<Result>(
    label: HoldLabel,
    userId: UserId,
    options: PlaceOptions,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    return this.#admit(label, userId, options, (held, call) => {
      call.begin();
      call.signal.throwIfAborted();
      return work(held);
    });
  }

  /** Cancels what has not begun to commit, and what comes from now on. */
  cancelAll(): void {
    this.#isEnding = true;
    for (const control of this.#admitted) control.endForClose();
  }

  /** Ends what goes on in the background. Nothing may be waiting or running any more. */
  async close(): Promise<void> {
    await Promise.all([this.#parts.store.close(), this.#parts.pool.close()]);
  }

  /** Has a call wait for what it needs, and ends the wait when it must. */
  async #admit<Result>(
    label: HoldLabel,
    userId: UserId,
    options: PlaceOptions,
    work: (held: HeldUser, call: Call) => Promise<Result>,
  ): Promise<Result> {
    const { action, tool, callId, inputBytes: bytes = 0 } = label;
    if (this.#isEnding) throw closedMeanwhile(action);
    using control = new CallControl(action, options.signal, this.#signals);
    const { signal } = control;
    const begin = this.#waiting.admit({ userId, action, bytes, giveWay: (error) => control.end(error) });
    const until = performance.now() + this.#parts.waitMs;
    this.#admitted.add(control);
    try {
      return await this.#inTurn({ action, until, signal }, userId, () =>
        this.#parts.store.hold(userId, { ...options, until, signal }, (held) => work(held, { begin, until, signal })),
      );
    } catch (error) {
      const failure = asToolError(error, action);
      this.#log(causeLines([failure.cause]), { tool, userId, callId });
      throw failure;
    } finally {
      begin();
      this.#admitted.delete(control);
    }
  }

  /** Behind the user's earlier calls, and not with too many users at once. */
  #inTurn<Result>(
    { action, until, signal }: { action: string; until: number; signal: AbortSignal },
    userId: UserId,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const patience = (reason: string): Patience => ({
      until,
      signal,
      tooLong: (waitedMs) => new ToolError("BUSY", `Cannot ${action}: ${reason} took over ${waitedMs} ms`),
    });
    return this.#queue.run(userId, patience("the user's earlier calls"), async () => {
      await this.#held.take(patience("other users' calls"));
      try {
        return await work();
      } finally {
        this.#held.give();
      }
    });
  }

  #taskFor({ tool, moduleIndex }: CatalogTool, input: string, userId: UserId): ReturnType<PoolTask["makeTask"]> {
    const epochMs = this.#parts.clock();
    if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs) > dateMsMax) {
      throw new RangeError(`clock() returned ${epochMs}, not whole milliseconds`);
    }
    const grant = grantFor(tool, userId, this.#parts.limits);
    return { toolName: tool.name, moduleIndex, exportName: tool.export, input, grant, epochMs };
  }

  #log(lines: readonly LogLine[], of: Pick<LogEntry, "tool" | "userId" | "callId">): void {
    for (const line of lines) writeLog(this.#parts.onLog, { ...line, ...of });
  }
}

/** The last millisecond that a JavaScript date can name. */
const dateMsMax = 8.64e15;
