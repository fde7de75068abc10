/**
 * The steps of a call: check → admit → hold → run → record → commit → record → answer. `CallRunner.call` does them in
 * this order.
 */
import type { PluginIdentity } from "../audit/audit-record.ts";
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { Recorder } from "../audit/collect/recorder.ts";
import type { UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import { encodeInput } from "../guest/guest-json.ts";
import { causeLines } from "../log/cause-line.ts";
import type { LogEntry, LogLine, LogSource } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { mayChange } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { PolicyLimits } from "../plugins/policy/policy.ts";
import type { HeldUser, HoldOptions, Store } from "../store/store.ts";
import type { EndedRun, GuestTask, Pool } from "../thread/pool.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { AskedContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Admission, AskedTurn, Turn } from "./admission.ts";
import type { AskedCall, CallOptions, EndedCall, HostWork, PreparedChanges } from "./asked-call.ts";
import type { ChangeListeners } from "./change-listeners.ts";

export interface CallRunnerParts {
  readonly store: Store;
  readonly pool: Pool;
  readonly admission: Admission;
  readonly recorder: Recorder;
  readonly listeners: ChangeListeners;
  readonly clock: () => number;
  readonly onLog: (entry: LogEntry) => void;
  /** The catalog's plugins, by module index. */
  readonly identities: readonly PluginIdentity[];
  /** How long a module's guests may run, by module index. */
  readonly deadlinesMs: readonly number[];
  /** The policy's limits for every call. */
  readonly limits: PolicyLimits;
}

/** A call that may run. */
interface CheckedCall extends CheckedContext, AskedTurn {
  readonly found: CatalogTool;
  /** JSON text. */
  readonly input: string;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
  }

  /** Always resolves to a value; never rejects. */
  async call(asked: AskedCall, options: CallOptions = {}): Promise<EndedCall> {
    using _arrived = this.#parts.admission.arrive();
    const context = readContext(asked.ctx);
    const record = this.#parts.recorder.beginCall(asked.toolName, asked.action, context);
    const result = await this.#resultOf(asked, context, record, options);
    const withheld = record.end(result.ok ? null : result.error);
    return { result: withheld ? failed(withheld) : result, isCommitted: record.isCommitted };
  }

  async #resultOf(
    asked: AskedCall,
    context: AskedContext,
    record: CallRecord,
    options: CallOptions,
  ): Promise<ToolResult> {
    try {
      const call = this.#check(asked, context, record);
      return await this.#admit(call, record, (turn) =>
        this.#hold(call, turn, options, (held) => this.#run(call, { held, turn, record }, options)),
      );
    } catch (error) {
      return failed(asToolError(error, asked.action));
    }
  }

  #check({ find, input, inputBytesMax }: AskedCall, context: AskedContext, record: CallRecord): CheckedCall {
    const found = find();
    const { name, scopes, rights } = found.tool;
    const isMounted = this.#parts.store.isApart(record.userId, scopes);
    record.found({ plugin: this.#parts.identities[found.moduleIndex] ?? null, scopes, rights }, isMounted);
    const checked = checkContext(context);
    const text = encodeInput(name, input, inputBytesMax ?? this.#parts.limits.inputBytes);
    return { ...checked, found, input: text, action: `call ${name}`, inputBytes: Buffer.byteLength(text) };
  }

  async #admit<Result>(
    asked: AskedTurn,
    { source }: CallRecord | UpkeepRecord,
    work: (turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#parts.admission.run(asked, work);
    } catch (error) {
      const failure = asToolError(error, asked.action);
      this.#log(causeLines([failure.cause]), source);
      throw failure;
    }
  }

  #hold<Result>(
    { userId, found }: CheckedCall,
    { until, signal }: Turn,
    options: CallOptions,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    const { isLookingOnly = false, isThorough = false } = options;
    const { scopes } = found.tool;
    const hold = { scopes, writes: commits(found, options), isLookingOnly, isThorough, until, signal };
    return this.#parts.store.hold(userId, hold, work);
  }

  async #run(
    call: CheckedCall,
    { held, turn, record }: { held: HeldUser; turn: Turn; record: CallRecord },
    options: CallOptions,
  ): Promise<ToolResult> {
    const { staged, outcome } = await this.#runGuest(call, { held, turn, record }, options);
    if (outcome instanceof ToolError) throw outcome;
    const { envelope, changes, seen, usedBytes, log, fuelPolls } = outcome;
    record.used(fuelPolls);
    this.#log(log, record.source);
    turn.signal.throwIfAborted();
    if (!envelope.ok) return resultOf(envelope);
    const accepted = (await options.accepts?.(envelope, changes, held.reader)) ?? [];
    if (!options.isLookingOnly) {
      const all = [...staged, ...changes, ...accepted];
      await this.commit({ changes: all, seen: [...seen, ...held.reader.seen], usedBytes }, held, record);
    }
    return envelope;
  }

  /** Takes the time and makes the host's own changes only when a thread is free: after that, nothing waits. */
  async #runGuest(
    call: CheckedCall,
    { held, turn, record }: { held: HeldUser; turn: Turn; record: CallRecord },
    { stage, freedBytes }: CallOptions,
  ): Promise<{ readonly staged: readonly SizedChange[]; readonly outcome: EndedRun["outcome"] }> {
    const { tool, moduleIndex } = call.found;
    const { until, signal } = turn;
    using thread = await this.#parts.pool.take(tool.name, turn);
    turn.endWait();
    const task = this.#taskFor(call, freedBytes);
    const staged = (await stage?.(held.reader, task.epochMs)) ?? [];
    const bounds = { name: tool.name, deadlineMs: this.#parts.deadlinesMs[moduleIndex] ?? 0, until, signal };
    using run = await thread.run({ ...task, before: staged, usedBytes: held.usedBytes }, bounds);
    record.guestEnded(run.trail);
    return { staged, outcome: run.outcome };
  }

  /** Records a change set, commits it, notifies listeners. A change set that cannot be recorded is not committed. */
  async commit(
    { changes, seen, usedBytes }: PreparedChanges,
    held: HeldUser,
    record: CallRecord | UpkeepRecord,
  ): Promise<void> {
    if (changes.length === 0) return;
    record.staged(changes);
    await held.commit(changes, seen, usedBytes);
    record.committed();
    this.#parts.listeners.tell(changes, record.source);
  }

  #taskFor({ found: { tool, moduleIndex }, input, userId }: CheckedCall, freedBytes = 0): GuestTask {
    const epochMs = this.#parts.clock();
    if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs) > dateMsMax) {
      throw new RangeError(`clock() returned ${epochMs}, not whole milliseconds`);
    }
    // The grant is what this tool's manifest asks for. The policy has already been checked to allow it.
    const { hostCalls, stagedBytes } = this.#parts.limits;
    const grant = { userId, scopes: tool.scopes, rights: tool.rights, limits: { hostCalls, stagedBytes }, freedBytes };
    return { toolName: tool.name, moduleIndex, exportName: tool.export, input, grant, epochMs };
  }

  /** Does the host's own work on a user's files, in the user's turn and under the lock. */
  hold<Result>(
    { action, record, userId, signal }: HostWork,
    options: Omit<HoldOptions, "until" | "signal">,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    return this.#admit({ action, userId, signal, inputBytes: 0 }, record, (turn) =>
      this.#parts.store.hold(userId, { ...options, until: turn.until, signal: turn.signal }, (held) => {
        turn.endWait();
        turn.signal.throwIfAborted();
        return work(held);
      }),
    );
  }

  /** Waits for the last call as `Admission.close` does, then closes the store and stops the threads. */
  async close(graceMs: number): Promise<void> {
    const { admission, store, pool } = this.#parts;
    await admission.close(graceMs);
    await Promise.all([store.close(), pool.close()]);
  }

  #log(lines: readonly LogLine[], source: LogSource): void {
    for (const line of lines) writeLog(this.#parts.onLog, { ...line, ...source });
  }
}

/** The last millisecond that a JavaScript date can name. */
const dateMsMax = 8.64e15;

/** Whether a call can end in a commit: because its tool can change files, or because the host stages changes. */
const commits = (found: CatalogTool, { isLookingOnly, stage }: CallOptions): boolean =>
  !isLookingOnly && (stage !== undefined || mayChange(found));

const failed = (failure: ToolError): ToolResult => resultOf(envelopeOf(failure));
