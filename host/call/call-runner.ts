/**
 * The steps of a call: check → admit → hold → run → record → commit → record → answer. `CallRunner.call` does them in
 * this order.
 */
import type { PluginIdentity } from "../audit/audit-record.ts";
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { Recorder } from "../audit/collect/recorder.ts";
import { encodeInput } from "../guest/guest-json.ts";
import type { LogLine } from "../log/log-entry.ts";
import { reachesStores } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { exportFor } from "../plugins/tool-commands.ts";
import type { CalledExport } from "../plugins/tool-commands.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { Vouching } from "../sharing/vouching.ts";
import type { ContextualAccess } from "../sharing/vouching.ts";
import type { HeldUser } from "../store/store.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { AskedContext, CheckedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ownStoreOf } from "../values/store-id.ts";
import { asToolError } from "../values/tool-error.ts";
import { failedResult, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { AskedTurn, Turn } from "./admission.ts";
import { keepsNothing } from "./asked-call.ts";
import type { AskedCall, CallOptions, EndedCall } from "./asked-call.ts";
import { seenEntries, withOrigins } from "./entry-view.ts";
import { GatedCall } from "./gated-call.ts";
import type { GatedCallParts } from "./gated-call.ts";
import { GuestRuns } from "./guest-runs.ts";
import type { GuestRunsParts } from "./guest-runs.ts";
import { KilledGuests } from "./killed-guests.ts";
import type { OwnWork, OwnWorkParts } from "./own-work.ts";
import { scopesOfUser } from "./read-scope.ts";
import { callWithStores } from "./store-call.ts";

export interface CallRunnerParts extends GuestRunsParts, OwnWorkParts, GatedCallParts {
  readonly recorder: Recorder;
  /** The catalog's plugins, by module index. */
  readonly identities: readonly PluginIdentity[];
  /** Whether the embedding program vouches for stores on each request. */
  readonly contextualAccess: ContextualAccess | null;
}

/** A call that may run. */
interface CheckedCall extends CheckedContext, AskedTurn {
  readonly found: CatalogTool;
  readonly called: CalledExport;
  /** JSON text. */
  readonly input: string;
}

interface RunningCall {
  readonly turn: Turn;
  readonly record: CallRecord;
  readonly runs: GuestRuns;
  readonly gated: GatedCall;
  /** Asks about what the guest wants to write; the guest then runs again. */
  readonly askProgram: () => Promise<void>;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #own: OwnWork;
  readonly #killed = new KilledGuests();

  constructor(parts: CallRunnerParts, own: OwnWork) {
    this.#parts = parts;
    this.#own = own;
  }

  /** Always resolves to a value; never rejects. */
  async call(asked: AskedCall, options: CallOptions = {}): Promise<EndedCall> {
    using _arrived = this.#parts.admission.arrive();
    const context = readContext(asked.ctx);
    const record = this.#parts.recorder.beginCall(asked.toolName, asked.action, context);
    const result = await this.#resultOf(asked, context, record, options);
    const withheld = record.end(result.ok ? null : result.error);
    return { result: withheld ? failedResult(withheld) : result, isCommitted: record.isCommitted };
  }

  async #resultOf(
    asked: AskedCall,
    context: AskedContext,
    record: CallRecord,
    options: CallOptions,
  ): Promise<ToolResult> {
    try {
      const call = this.#check(asked, context, record);
      const work = async (turn: Turn): Promise<ToolResult> => {
        this.#killed.refuse(call.userId, call.action);
        const log = (lines: readonly LogLine[]): void => this.#own.log(lines, record.source);
        const gated = new GatedCall(this.#parts, call, { record, options });
        const runs = new GuestRuns(this.#parts, { ...call, ...gated.guest, turn, record, log });
        try {
          await gated.begin(turn);
          const askProgram = async (): Promise<void> => {
            if (await gated.askProgram(turn)) runs.repeat();
          };
          const result = await (reachesStores(call.found)
            ? this.#withStores(call, { turn, record, runs, gated, askProgram }, options)
            : untilAnswered(askProgram, () =>
                this.#hold(call, turn, { gated, options }, (held) =>
                  this.#run(runs, { found: call.found, held, record, gated }, options),
                ),
              ));
          const ended = await gated.end(result, turn);
          if (!ended.ok && ended.pending !== undefined) this.#own.tellOfPending(ended.pending, record);
          return ended;
        } finally {
          await this.#killed.pay(call.userId, runs.replaced);
        }
      };
      return await this.#own.admit(call, record, work, options.within?.turn);
    } catch (error) {
      return failedResult(asToolError(error, asked.action));
    }
  }

  #check(
    { find, caller, input, inputBytesMax, until }: AskedCall,
    context: AskedContext,
    record: CallRecord,
  ): CheckedCall {
    const found = find();
    const { name, scopes, rights } = found.tool;
    const isMounted = this.#parts.store.isApart(record.userId, scopes);
    const plugin = this.#parts.identities[found.moduleIndex] ?? null;
    record.found({ plugin, scopes, rights }, isMounted);
    const checked = checkContext(context);
    const called = exportFor(found.tool, caller, input);
    record.found({ plugin, scopes, rights: called.rights }, isMounted);
    const text = encodeInput(name, input, inputBytesMax ?? this.#parts.limits.inputBytes);
    const inputBytes = Buffer.byteLength(text);
    return { ...checked, found, called, input: text, action: `call ${name}`, inputBytes, until };
  }

  #hold<Result>(
    { userId, found }: CheckedCall,
    { until, signal }: Turn,
    { gated, options }: { readonly gated: GatedCall; readonly options: CallOptions },
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    const { isLookingOnly = false, isThorough = false, decision, within } = options;
    if (within !== undefined) return work(within.held);
    const { scopes } = found.tool;
    const records = decision !== undefined;
    const hold = { scopes, records, writes: gated.commits, isLookingOnly, isThorough, until, signal };
    return this.#parts.store.hold(userId, hold, work);
  }

  /** Returns `null` if the program must be asked first: nothing has changed. */
  async #run(
    runs: GuestRuns,
    { found, held, record, gated }: { found: CatalogTool; held: HeldUser; record: CallRecord; gated: GatedCall },
    options: CallOptions,
  ): Promise<ToolResult | null> {
    const { stage: asked, freedBytes, accepts, kind, decision } = options;
    const { reader, knownSizes: known, handed } = held;
    gated.restart();
    const entries = await seenEntries(found, scopesOfUser(held, found.tool.scopes), options);
    const stage = async (ms: number): Promise<SizedChange[]> => [
      ...((await asked?.(reader, ms)) ?? []),
      ...entries.changes,
    ];
    const notesSeen = gated.needsSeen || entries.view !== null || entries.isTold;
    const ran = await runs.run({ knownSizes: known, handed, freedBytes, stage, notesSeen });
    const { epochMs: atMs, staged, reply } = ran;
    const { envelope, changes, seen, knownSizes } = reply;
    await gated.hasRead(held.history, seen);
    if (!envelope.ok) return resultOf(envelope);
    const accepted = (await accepts?.(envelope, changes, reader)) ?? [];
    const result = await withOrigins(envelope, reply, entries);
    if (!keepsNothing(options)) {
      const all = [...staged, ...changes, ...accepted];
      if (all.length === 0 && options.approved === undefined) return result;
      const facts = gated.facts(atMs);
      const waits = await gated.waits(all, facts, (scope, path) => reader.bytesOf(scope, path));
      if (waits !== false) return waits && envelope;
      const prepared = { changes: all, seen: [...seen, ...reader.seen], knownSizes, facts, kind, decision };
      await this.#own.commit(prepared, held, record);
    }
    return result;
  }

  /** As `#hold` and `#run`, for a tool that reaches shared stores. */
  #withStores(
    { userId, found, stores, action }: CheckedCall,
    { turn, record, runs, gated, askProgram }: RunningCall,
    options: CallOptions,
  ): Promise<ToolResult> {
    const { store, clock, contextualAccess } = this.#parts;
    const principal = ownStoreOf(userId);
    const vouching = new Vouching({ userId, stores, action, turn }, contextualAccess);
    const { shared } = store;
    const { isLookingOnly = false, isThorough = false, freedBytes, decision } = options;
    const recordsOf = decision && userId;
    const hold = { writes: gated.commits, isLookingOnly, isThorough, recordsOf };
    return callWithStores({
      action,
      turn,
      askProgram,
      found,
      userId,
      principal,
      shared,
      questions: new StoresInQuestion({ principal, vouching, shared, clock }),
      hold,
      options,
      record,
      gated,
      run: (run) => runs.run({ ...run, freedBytes }),
      clock,
      tell: (changes) => this.#own.tellLater(changes, record),
    });
  }

  /** Waits for the last call as `Admission.close` does, then closes the store and stops the threads. */
  async close(graceMs: number): Promise<void> {
    const { admission, store, pool } = this.#parts;
    await admission.close(graceMs);
    await Promise.all([store.close(), pool.close()]);
  }
}

/** Asks the program each time that the work returns `null`, and works again. */
async function untilAnswered<Result>(
  askProgram: () => Promise<void>,
  work: () => Promise<Result | null>,
): Promise<Result> {
  for (;;) {
    const result = await work();
    if (result !== null) return result;
    await askProgram();
  }
}
