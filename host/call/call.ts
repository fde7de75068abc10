/**
 * A call, from top to bottom: check → wait for its turn → (ask the program → hold → run the guest → judge → commit, and with it
 * what was read) → answer.
 *
 * What stands in brackets is an attempt. Another one begins from the start, and nothing of the one before counts, if it has
 * ended in any other step than an answer (`Attempt`); if somebody has changed the files meanwhile (`StaleCall`, three times at
 * most: `store.hold` does that); or if there is an answer, and the program has changed its mind about stores. `modelRun` is
 * the run of a model that the caller names; whatever else runs here is the guest.
 */
import { sharingLimits } from "../../shared/limits.ts";
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import type { Recorder } from "../audit/collect/record.ts";
import { approvedFacts, askHook, judge, readsEntries, trustOfReads, writeFacts } from "../gate/gate.ts";
import type { HookQuestion } from "../gate/gate.ts";
import { stagePending } from "../gate/pending.ts";
import { lowersRun } from "../gate/runs.ts";
import type { RunTrust } from "../gate/runs.ts";
import { encodeInput } from "../guest/guest-json.ts";
import { policyLimitsMax } from "../plugins/policy/policy.ts";
import { exportFor, mayChange, ownScopesOf, reachesStores } from "../plugins/tools.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import type { HeldHomes } from "../store/held-homes.ts";
import { commits, namedByCalls, userHome } from "../store/home.ts";
import type { HoldOptions, Home, Mode } from "../store/home.ts";
import { StaleCall } from "../store/plan-changes.ts";
import type { KnownSizes } from "../store/reading.ts";
import type { Store } from "../store/store.ts";
import type { WriteFacts } from "../store/versions/version.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { ContextualAccess, WriteHook } from "../values/asked-program.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { AskedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { DecidedStores } from "../values/store-grant.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import { failedResult, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Admission, AskedTurn, Turn } from "./admission.ts";
import type { AskedCall, CallOptions, CheckedCall, EndedCall, Ran, RunningCall } from "./asked-call.ts";
import { commitCall } from "./commit.ts";
import { readScopes, seenEntries, withOrigins } from "./entry-view.ts";
import type { Listeners } from "./listeners.ts";
import { KilledGuests, newRuns, repeat, runGuest } from "./run-guest.ts";
import type { GuestParts } from "./run-guest.ts";

export interface CallRunnerParts extends GuestParts {
  readonly store: Store;
  readonly admission: Admission;
  readonly recorder: Recorder;
  readonly listeners: Listeners;
  readonly runTrust: RunTrust;
  /** The program's; `null` if there is none. */
  readonly onWrite: WriteHook | null;
  /** Tells the operator why it has not answered. */
  readonly onWriteFailure: (error: unknown) => void;
  /** The catalog's plugins, by module index. */
  readonly identities: readonly PluginIdentity[];
  /** Whether the embedding program vouches for stores on each request. */
  readonly contextualAccess: ContextualAccess | null;
}

/** What an attempt has come to. Only an answer has changed files. */
type Attempt =
  | Answered
  /** The program must be asked about stores, before the next hold. */
  | { readonly step: "ask about stores" }
  /** Its hook must be asked about what the call writes. */
  | { readonly step: "ask hook"; readonly question: HookQuestion }
  /** The guest has asked for other stores. */
  | { readonly step: "reach"; readonly wanted: NonNullable<WorkerReply["wanted"]> }
  /** The write waits for the owner of the memory: the user's home must be held, too. */
  | { readonly step: "hold user" };

interface Answered {
  readonly step: "answer";
  readonly result: ToolResult;
  /** The stores that it reaches; `null` if its tool reaches none. */
  readonly decided: DecidedStores | null;
  /** Whether a write of it is durable, or waits: then it must not run again. */
  readonly isDone: boolean;
  /** What the model's run has read, if that is still to be put on record. */
  readonly toNote: OriginClass | null;
}

/** How many attempts the same stores get, because the program is asked, or the user's home is held, too. */
const roundsMax = 8;

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #killed = new KilledGuests();

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
  }

  /** Always resolves to a value; never rejects. */
  async call(asked: AskedCall, options: CallOptions = {}): Promise<EndedCall> {
    using _arrived = this.#parts.admission.arrive();
    const context = readContext(asked.ctx);
    const record = this.#parts.recorder.beginCall(asked.toolName, asked.action, context);
    let result: ToolResult;
    try {
      const checked = this.#check(asked, context, { record, options });
      const { action, userId, signal, input } = checked;
      const inputBytes = Buffer.byteLength(input);
      const turn: AskedTurn = { action, userId, signal, inputBytes, until: asked.until, source: record.source };
      result = await this.#parts.admission.run(turn, (own) => this.#inTurn(checked, own), options.within?.turn);
    } catch (error) {
      result = failedResult(asToolError(error, asked.action));
    }
    const withheld = record.end(result.ok ? null : result.error);
    return { result: withheld ? failedResult(withheld) : result, isCommitted: record.isCommitted };
  }

  #check(
    { find, caller, input }: AskedCall,
    context: AskedContext,
    { record, options }: Pick<CheckedCall, "record" | "options">,
  ): CheckedCall {
    const found = find();
    const { name, scopes, rights } = found.tool;
    const plugin = this.#parts.identities[found.moduleIndex] ?? null;
    // First what the record names if the rest throws.
    record.isMounted = this.#parts.store.isMounted(record.userId, scopes);
    record.found = { plugin, scopes, rights };
    const { userId, signal, stores, origin } = checkContext(context);
    const called = exportFor(found.tool, caller, input);
    record.found = { plugin, scopes, rights: called.rights };
    // The policy limits the input of callers. The host's own input grows with the user's files.
    const { inputBytes: bytesMax } = options.isUpkeep === true ? policyLimitsMax : this.#parts.limits;
    const text = encodeInput(name, input, bytesMax);
    const action = `call ${name}`;
    return { userId, signal, stores, origin, found, called, input: text, action, record, options };
  }

  async #inTurn(checked: CheckedCall, turn: Turn): Promise<ToolResult> {
    const { userId, action, record } = checked;
    this.#killed.refuse(userId, action);
    const call = this.#begin(checked, turn);
    try {
      const { result, toNote } = await this.#untilAnswered(call);
      if (toNote !== null) await this.#noteAfterwards(call, toNote);
      if (!result.ok && result.pending !== undefined) this.#parts.listeners.tellWaiting(result.pending, record);
      return result;
    } finally {
      await this.#killed.pay(userId, call.runs.replaced);
    }
  }

  #begin(checked: CheckedCall, turn: Turn): RunningCall {
    const { userId, origin, found, called, options } = checked;
    const { isUpkeep = false } = options;
    const { onWrite, onWriteFailure, store } = this.#parts;
    const modelRun = !isUpkeep && origin.run !== null ? { userId, run: origin.run } : null;
    const mayCommit = !keepsNothing(options) && mayChange(called.rights);
    // Not spread: V8 then makes 4 KB of it in each call.
    return Object.assign(checked, {
      turn,
      runs: newRuns(checked, this.#parts),
      hookAnswers: onWrite && { hook: onWrite, onFailure: onWriteFailure, raised: new Map<string, boolean>() },
      inQuestion: reachesStores(found) ? new StoresInQuestion({ ...checked, turn }, this.#parts) : null,
      home: store.homeOf(userId, ownScopesOf(found)),
      modelRun,
      mayCommit,
      needsReads: !isUpkeep && readsEntries(found) && (modelRun !== null || mayCommit),
    });
  }

  /** Attempts until one has an answer. The program is asked between two holds: while it answers, nobody waits for a home. */
  async #untilAnswered(call: RunningCall): Promise<Answered> {
    const { inQuestion, runs, options, action } = call;
    const holdsItself = options.within === undefined;
    let holdsUser = options.approved !== undefined || (call.mayCommit && call.modelRun !== null);
    if (inQuestion !== null && !call.mayCommit && holdsItself) await inQuestion.addFew();
    // What was judged is written as it was judged: `repeat` runs the guest at the same time, with a whole deadline.
    let reached = 1;
    for (let round = 1; round <= roundsMax; round++) {
      if (holdsItself) await inQuestion?.askLacking();
      const attempt = await this.#hold(call, holdsUser);
      switch (attempt.step) {
        case "answer":
          if (attempt.isDone || attempt.decided === null) return attempt;
          if (await inQuestion?.isVouchedStill(attempt.decided)) return attempt;
          break;
        case "reach":
          if (!holdsItself) throw denied("only the user's own is held");
          if (reached === sharingLimits.runsMax)
            throw denied(`this call has asked for more stores in ${reached} runs, the maximum`);
          await inQuestion?.add(attempt.wanted);
          reached++;
          round = 0;
          break;
        case "hold user":
          holdsUser = true;
          repeat(runs);
          break;
        case "ask hook":
          await askHook(attempt.question, call);
          repeat(runs);
          break;
        case "ask about stores":
        // The next round does.
      }
    }
    const reason = `what it reaches and wants to write has changed in ${roundsMax} runs, the maximum`;
    throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
  }

  /**
   * Holds what the call reaches, each home once, while its guest runs and until its changes are durable. Makes another attempt
   * if one throws `StaleCall`. `holdsUser`: with what the host keeps about the user, if the tool works elsewhere.
   */
  async #hold(call: RunningCall, holdsUser: boolean): Promise<Attempt> {
    const { userId, found, inQuestion, turn, options } = call;
    if (options.within !== undefined) return await this.#attempt(call, options.within.held);
    const { store } = this.#parts;
    const mode: Mode = options.mode ?? (call.mayCommit ? "write" : "read");
    const { until, signal } = turn;
    const besides = holdsUser ? [userHome(userId)] : [];
    const ofTurn: HoldOptions = { until, signal, scopes: found.tool.scopes, besides };
    // Finds out which of several stores need no lock.
    if (inQuestion !== null && commits(mode) && inQuestion.homes.length > 1) {
      const toSurvey = { ...ofTurn, as: inQuestion.as, besides: [] };
      await store.hold(inQuestion.homes, "read", toSurvey, (held) => inQuestion.survey(held));
      if (inQuestion.isLacking) return { step: "ask about stores" };
    }
    const { homes, as, onlyRead } = inQuestion ?? { homes: [call.home] };
    return await store.hold(homes, mode, { ...ofTurn, as, onlyRead }, (held) => this.#attempt(call, held));
  }

  async #attempt(call: RunningCall, held: HeldHomes): Promise<Attempt> {
    const { found, inQuestion, options, record, needsReads } = call;
    const inOwn = (changes: readonly SizedChange[]): readonly SizedChange[] => namedByCalls(call.home, changes);
    const decided = inQuestion && (await inQuestion.decide(held));
    if (inQuestion?.isLacking) return { step: "ask about stores" };
    const home = held.of(call.home);
    const scopes = readScopes(home, found.tool.scopes, decided);
    const ofRun = await this.#trustOfRun(call, held);
    const entries = await seenEntries(found, scopes, options);
    const { epochMs, reply } = await runGuest(this.#parts, call, {
      stores: decided,
      knownSizes: knownSizesOf(held, inQuestion?.homes ?? [home.home]),
      handed: held.handed,
      staged: [...inOwn(options.staged ?? []), ...entries.changes],
      notesSeen: needsReads || entries.view !== null || entries.isTold,
    });
    if (reply.wanted !== null) return { step: "reach", wanted: reply.wanted };
    if (decided) record.stores = decided.stores;
    const ofCall = needsReads ? await trustOfReads(call, home, reply.seen) : null;
    const ran: Ran = { held, home, decided, reply, epochMs, ofRun, ofCall };
    if (!reply.envelope.ok) return await this.#noteAndAnswer(call, ran, resultOf(reply.envelope));
    const accepted = await options.accepts?.(reply.envelope, reply.changes, home, call.turn);
    const isStill = decided === null || (await inQuestion?.isStill(decided, held)) === true;
    if (inQuestion?.isLacking) return { step: "ask about stores" };
    // A grant has ended meanwhile.
    if (!isStill) throw new StaleCall();
    const result = await withOrigins(reply.envelope, reply, entries);
    if (keepsNothing(options)) return await this.#noteAndAnswer(call, ran, result);
    return await this.#gate(call, ran, result, inOwn(accepted ?? reply.changes));
  }

  /** What the model's run has read in earlier calls; nothing that counts if the call writes nothing. */
  async #trustOfRun({ modelRun, mayCommit, userId }: RunningCall, held: HeldHomes): Promise<OriginClass> {
    if (modelRun === null || !mayCommit) return "owner_edit";
    return await this.#parts.runTrust.of(held.of(userHome(userId)).records, modelRun);
  }

  /** The gate decides: the changes take effect, wait for the owner of the memory, or are refused. */
  async #gate(call: RunningCall, ran: Ran, result: ToolResult, changes: readonly SizedChange[]): Promise<Attempt> {
    const { inQuestion, userId, modelRun } = call;
    const { held, home, decided, reply, ofCall } = ran;
    const facts = this.#factsOf(call, ran);
    const judged = await judge(call, { changes, facts, grants: reply.grants, home });
    if (judged !== "takes effect" && "digest" in judged) return { step: "ask hook", question: judged };
    const changesNothing = changes.length === 0 && reply.grants === null;
    if (judged === "takes effect" && changesNothing) return await this.#noteAndAnswer(call, ran, result);
    // Before anything is durable, the program is asked once more about the stores that the call reaches by its word, and then
    // the guest runs again.
    if (decided !== null && inQuestion?.isAskedAgain(decided) === false) return { step: "ask about stores" };
    if (judged === "takes effect") {
      const isNoted = await commitCall(this.#parts, call, ran, { changes, facts });
      if (isNoted) return answered(ran, result, { isDone: true });
      return await this.#noteAndAnswer(call, ran, result, { isDone: true });
    }
    const user = userHome(userId);
    // It is not held for a tool that works elsewhere if the caller names no run.
    if (!held.has(user)) return { step: "hold user" };
    const { records } = held.of(user);
    const waiting = failedResult(await stagePending(records, call, facts, judged));
    await this.#parts.runTrust.commitWith(records, modelRun, ofCall);
    held.keepResult();
    return answered(ran, waiting, { isDone: true });
  }

  /** What the history says of the changes. They are trusted no more than what the run and the call have read. */
  #factsOf({ options, userId, origin, found, record }: RunningCall, { epochMs, ofRun, ofCall }: Ran): WriteFacts {
    const { isUpkeep = false, kind, approved } = options;
    if (approved) return approvedFacts(approved, userId, this.#parts.clock());
    const [tool, plugin, callId] = [found.tool.name, found.family, record.callId];
    const read = lowestOf(ofRun, ofCall ?? "owner_edit");
    return writeFacts({ atMs: epochMs, tool, plugin, principal: userId, callId, origin, isUpkeep, kind, read });
  }

  /** Puts on record what the model's run has read: in this hold if the call may commit, else `#noteAfterwards` does it. */
  async #noteAndAnswer(call: RunningCall, ran: Ran, result: ToolResult, { isDone = false } = {}): Promise<Answered> {
    const { modelRun, mayCommit, userId } = call;
    const { held, ofCall } = ran;
    const { runTrust } = this.#parts;
    if (modelRun === null || ofCall === null || !lowersRun(ofCall)) return answered(ran, result, { isDone });
    const user = userHome(userId);
    if (!mayCommit) {
      const isLow = held.has(user) && (await runTrust.isLow(held.of(user).records, modelRun, ofCall));
      return answered(ran, result, { toNote: isLow ? null : ofCall });
    }
    await runTrust.note(modelRun, ofCall, { isNeeded: !isDone }, () =>
      runTrust.commitWith(held.of(user).records, modelRun, ofCall),
    );
    return answered(ran, result, { isDone });
  }

  /** Puts on record what a call has read that changes nothing, in a hold of its own: its answer waits until that is durable. */
  async #noteAfterwards({ modelRun, userId, turn: { signal } }: RunningCall, trust: OriginClass): Promise<void> {
    if (modelRun === null) return;
    const { store, admission, runTrust } = this.#parts;
    const until = performance.now() + admission.waitMs;
    const user = userHome(userId);
    await runTrust.note(modelRun, trust, { isNeeded: true }, () =>
      store.hold([user], "write", { until, signal }, (held) =>
        runTrust.commitWith(held.of(user).records, modelRun, trust),
      ),
    );
  }

  /** Waits for the last call as `Admission.close` does, then closes the store and stops the threads. */
  async close(graceMs: number): Promise<void> {
    const { admission, store, pool } = this.#parts;
    await admission.close(graceMs);
    await Promise.all([store.close(), pool.close()]);
  }
}

const answered = (
  { decided }: Ran,
  result: ToolResult,
  { isDone = false, toNote = null }: Partial<Pick<Answered, "isDone" | "toNote">>,
): Answered => ({ step: "answer", result, decided, isDone, toNote });

/** Whether the changes of a call are dropped. */
const keepsNothing = ({ mode, view }: CallOptions): boolean => mode === "look" || view !== undefined;

const knownSizesOf = (held: HeldHomes, homes: readonly Home[]): KnownSizes =>
  Object.assign({}, ...homes.map((home) => held.of(home).knownSizes)) as KnownSizes;

const denied = (reason: string): ToolError => new ToolError("CAPABILITY_DENIED", `Cannot use another store: ${reason}`);
