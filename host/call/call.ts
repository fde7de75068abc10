/**
 * A call, from top to bottom: check → wait → hold → run → judge → gate → commit → note what was read → answer.
 *
 * An attempt is made again from the start, and nothing of the one before counts, if the files have changed meanwhile (three
 * times at most: `store.hold` does that), if the guest asks for other stores, if a write is to wait and the user's home is not
 * held, or if the program must be asked first or has changed its mind. `modelRun` is the run of a model that the caller
 * names; whatever else runs here is the guest.
 */
import { sharingLimits } from "../../shared/limits.ts";
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import type { Recorder } from "../audit/collect/record.ts";
import { HookAnswers, approvedFacts, judge, readsEntries, trustOfReads, writeFacts } from "../gate/gate.ts";
import { stagePending } from "../gate/pending.ts";
import { lowersRun } from "../gate/runs.ts";
import type { RunTrust } from "../gate/runs.ts";
import { encodeInput } from "../guest/guest-json.ts";
import { exportFor, mayChange, reachesStores } from "../plugins/tools.ts";
import type { LeftOverErasures } from "../sharing/finish-erased.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { Vouching } from "../sharing/vouching.ts";
import type { HeldHomes } from "../store/held-homes.ts";
import { commits, ownStoreHome, storeHome, userHome } from "../store/home.ts";
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
import { inStore, ownStoreOf, storeOfScope } from "../values/ids.ts";
import type { DecidedStores } from "../values/store-grant.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import { failedResult, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Admission, Turn } from "./admission.ts";
import type { AskedCall, CallOptions, CheckedCall, EndedCall, RunningCall } from "./asked-call.ts";
import { commitCall } from "./commit.ts";
import type { CallChanges } from "./commit.ts";
import { scopesOfHome, scopesOfStores, seenEntries, withOrigins } from "./entry-view.ts";
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
  /** What is finished in the background. */
  readonly leftOver: LeftOverErasures;
}

/** What an attempt has come to. Only an answer has changed files. */
type Attempt =
  | Answered
  /** The program must be asked first, about stores or about what the call writes. */
  | { readonly step: "ask" }
  /** The guest has asked for other stores. */
  | { readonly step: "reach"; readonly wanted: NonNullable<WorkerReply["wanted"]> }
  /** The write waits for the owner of the memory: the user's home must be held, too. */
  | { readonly step: "hold user" };

interface Answered {
  readonly step: "answer";
  readonly result: ToolResult;
  /** The stores that it reaches; `null` if its tool reaches none. */
  readonly decided: DecidedStores | null;
  /** Whether something of it is durable, so that it must not run again. */
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
      const call = this.#check(asked, context, { record, options });
      const { action, userId, signal, input } = call;
      const turn = { action, userId, signal, inputBytes: Buffer.byteLength(input), until: asked.until };
      const work = (own: Turn): Promise<ToolResult> => this.#inTurn(call, own);
      result = await this.#parts.admission.run({ ...turn, source: record.source }, work, options.within?.turn);
    } catch (error) {
      result = failedResult(asToolError(error, asked.action));
    }
    const withheld = record.end(result.ok ? null : result.error);
    return { result: withheld ? failedResult(withheld) : result, isCommitted: record.isCommitted };
  }

  #check(
    { find, caller, input, inputBytesMax }: AskedCall,
    context: AskedContext,
    { record, options }: Pick<CheckedCall, "record" | "options">,
  ): CheckedCall {
    const found = find();
    const { name, scopes, rights } = found.tool;
    record.isMounted = this.#parts.store.isMounted(record.userId, scopes);
    record.found = { plugin: this.#parts.identities[found.moduleIndex] ?? null, scopes, rights };
    const checked = checkContext(context);
    const called = exportFor(found.tool, caller, input);
    record.found = { ...record.found, rights: called.rights };
    const text = encodeInput(name, input, inputBytesMax ?? this.#parts.limits.inputBytes);
    return { ...checked, found, called, input: text, action: `call ${name}`, record, options };
  }

  async #inTurn(checked: CheckedCall, turn: Turn): Promise<ToolResult> {
    const { userId, action, record } = checked;
    this.#killed.refuse(userId, action);
    const call = this.#begin(checked, turn);
    try {
      const { result, toNote } = await this.#untilAnswered(call);
      if (toNote !== null) await this.#noteAfterwards(call, toNote);
      if (!result.ok && result.pending !== undefined) this.#parts.listeners.waits(result.pending, record);
      return result;
    } finally {
      await this.#killed.pay(userId, call.runs.replaced);
    }
  }

  #begin(checked: CheckedCall, turn: Turn): RunningCall {
    const { userId, found, called, origin, stores, action, options } = checked;
    const { isUpkeep = false, approved, stage } = options;
    const { store, clock, contextualAccess, onWrite, onWriteFailure } = this.#parts;
    const questions = (): StoresInQuestion => {
      const vouching = new Vouching({ userId, stores, action, turn }, contextualAccess);
      return new StoresInQuestion({ principal: ownStoreOf(userId), vouching, store, clock });
    };
    const isOwners = isUpkeep || approved !== undefined;
    const modelRun = !isOwners && origin.run !== null ? { userId, run: origin.run } : null;
    const mayCommit = !keepsNothing(options) && (stage !== undefined || mayChange(called.rights));
    return {
      ...checked,
      turn,
      runs: newRuns(checked, this.#parts),
      answers: onWrite && new HookAnswers(onWrite, onWriteFailure),
      questions: reachesStores(found) ? questions() : null,
      isOwners,
      modelRun,
      mayCommit,
      needsReads: !isOwners && readsEntries(found) && (modelRun !== null || mayCommit),
    };
  }

  /** Attempts until one has an answer. The program is asked between two holds: while it answers, nobody waits for a home. */
  async #untilAnswered(call: RunningCall): Promise<Answered> {
    const { questions, action, runs, turn, options } = call;
    const isAlone = options.within === undefined;
    let holdsUser = options.decision !== undefined || (call.mayCommit && call.modelRun !== null);
    if (questions !== null && !call.mayCommit && isAlone) await questions.addFew();
    for (let reached = 1; reached <= sharingLimits.runsMax; reached++) {
      let wanted: NonNullable<WorkerReply["wanted"]> | null = null;
      for (let round = 1; wanted === null; round++) {
        if (round > roundsMax) throw changing(action);
        if (isAlone) await questions?.vouching.askLacking();
        const attempt = await this.#hold(call, holdsUser);
        if (attempt.step === "answer") {
          const { isDone, decided } = attempt;
          // Else the program has changed its mind.
          if (isDone || decided === null || (await questions?.vouching.isStill(decided)) === true) return attempt;
        } else if (attempt.step === "reach") wanted = attempt.wanted;
        else if (attempt.step === "hold user") {
          holdsUser = true;
          repeat(runs);
        } else if (await call.answers?.askLacking(turn, action)) repeat(runs);
      }
      if (!isAlone) throw denied("only the user's own is held");
      await questions?.add(wanted);
    }
    throw denied(`this call has asked for more stores in ${sharingLimits.runsMax} runs, the maximum`);
  }

  /**
   * Holds what the call reaches, each home once, while its guest runs and until its changes are durable. Makes another attempt
   * if one throws `StaleCall`. `holdsUser`: with what the host keeps about the user, if the tool works elsewhere.
   */
  async #hold(call: RunningCall, holdsUser: boolean): Promise<Attempt> {
    const { userId, found, questions, turn, options } = call;
    if (options.within !== undefined) return await this.#attempt(call, options.within.held);
    const { store } = this.#parts;
    const mode: Mode = options.mode ?? (call.mayCommit ? "write" : "read");
    const { until, signal } = turn;
    const besides = holdsUser ? [userHome(userId)] : [];
    const ofTurn: HoldOptions = { until, signal, scopes: found.tool.scopes, besides };
    const attempt = (held: HeldHomes): Promise<Attempt> => this.#attempt(call, held);
    if (questions === null) return await store.hold([this.#homeOf(call)], mode, ofTurn, attempt);
    const asked = { ...ofTurn, as: questions.as };
    // Finds out which of several stores need no lock.
    if (commits(mode) && questions.homes.length > 1) {
      await store.hold(questions.homes, "read", { ...asked, besides: [] }, (held) => questions.survey(held));
    }
    if (questions.vouching.isLacking) return { step: "ask" };
    const { homes, onlyRead } = questions;
    return await store.hold(homes, mode, { ...asked, as: questions.as, onlyRead }, attempt);
  }

  /** The home of a tool that reaches no stores, or else the user's own store, under the name that calls give it. */
  #homeOf({ userId, found, options }: RunningCall): Home {
    return options.within?.home ?? this.#parts.store.homeOf(userId, found.tool.scopes);
  }

  async #attempt(call: RunningCall, held: HeldHomes): Promise<Attempt> {
    const { found, questions, options, record, userId, modelRun, mayCommit, needsReads } = call;
    const inOwn = (changes: readonly SizedChange[]): readonly SizedChange[] =>
      questions === null ? changes : inStore(changes, ownStoreOf(userId));
    const decided = questions && (await questions.decide(held));
    if (questions?.vouching.isLacking) return { step: "ask" };
    const home = held.of(questions ? ownStoreHome(userId) : this.#homeOf(call));
    const scopes = decided ? scopesOfStores(held, decided) : scopesOfHome(home, found.tool.scopes);
    // What the run has read in earlier calls. A record of it that was lost is begun anew.
    const { records } = modelRun && mayCommit ? held.of(userHome(userId)) : { records: null };
    const ofRun = modelRun && records ? await this.#parts.runTrust.of(records, modelRun) : "owner_edit";
    const entries = await seenEntries(found, scopes, options);
    const { epochMs, staged, reply } = await runGuest(this.#parts, call, {
      stores: decided,
      knownSizes: knownSizesOf(held, questions?.homes ?? [home.home]),
      handed: held.handed,
      stage: async (ms) => [...inOwn((await options.stage?.(home.reader, ms)) ?? []), ...entries.changes],
      notesSeen: needsReads || entries.view !== null || entries.isTold,
    });
    if (reply.wanted !== null) return { step: "reach", wanted: reply.wanted };
    if (decided) record.stores = decided.stores;
    const ofCall = needsReads ? await trustOfReads(call, held, reply.seen, home) : null;
    const answered = { decided, ofCall, isDone: false };
    if (!reply.envelope.ok) return await this.#noteReads(call, held, { ...answered, result: resultOf(reply.envelope) });
    const accepted = (await options.accepts?.(reply.envelope, reply.changes, home.reader)) ?? [];
    const isStill = decided === null || (await questions?.isStill(decided, held)) === true;
    if (questions?.vouching.isLacking) return { step: "ask" };
    // A grant has expired meanwhile.
    if (!isStill) throw new StaleCall();
    const result = await withOrigins(reply.envelope, reply, entries);
    if (keepsNothing(options)) return await this.#noteReads(call, held, { ...answered, result });
    const changes = [...staged, ...reply.changes, ...inOwn(accepted)];
    return await this.#gate(call, held, { ...answered, result, changes, reply, ofRun, epochMs, home });
  }

  /** The gate decides: the changes take effect, wait for the owner of the memory, or are refused. */
  async #gate(call: RunningCall, held: HeldHomes, write: Written): Promise<Attempt> {
    const { questions, userId, modelRun, options } = call;
    const {
      changes,
      reply: { grants },
      decided,
      ofRun,
      ofCall,
      epochMs,
      home,
    } = write;
    const changesNothing = changes.length === 0 && grants === null;
    if (changesNothing && options.approved === undefined) return await this.#noteReads(call, held, write);
    const bytesOf = (scope: string, path: string): Promise<Uint8Array | null> => {
      const id = storeOfScope(scope);
      return (id === null ? home : held.of(storeHome(id))).reader.bytesOf(scope, path);
    };
    const isApproved = options.approved !== undefined;
    const facts = this.#factsOf(call, epochMs, lowestOf(ofRun, ofCall ?? "owner_edit"));
    const judged = await judge({ ...call, changes, facts, grants, isApproved, isShared: questions !== null, bytesOf });
    if (judged === "ask") return { step: "ask" };
    if (judged === "takes effect" && changesNothing) return await this.#noteReads(call, held, write);
    // Nothing is durable before the program was asked a second time about the stores that the call reaches by its word.
    if (decided !== null && questions?.vouching.isAskedAgain(decided) === false) return { step: "ask" };
    if (judged === "takes effect") {
      const isNoted = await commitCall(this.#parts, call, held, { ...write, facts });
      return await this.#noteReads(call, held, { ...write, ofCall: isNoted ? null : ofCall, isDone: true });
    }
    const user = userHome(userId);
    // Of a tool that works elsewhere, and a call without a run.
    if (!held.has(user)) return { step: "hold user" };
    const { records } = held.of(user);
    const result = failedResult(await stagePending(records, call, facts, judged));
    await this.#parts.runTrust.commitWith(records, modelRun, ofCall, () => records.commit());
    held.keepResult();
    return { step: "answer", result, decided, isDone: true, toNote: null };
  }

  /** What the history says of the changes. `read`: the lowest trust of what the run and the call have read. */
  #factsOf({ options, userId, origin, found, record }: RunningCall, atMs: number, read: OriginClass): WriteFacts {
    const { isUpkeep = false, kind, approved } = options;
    if (approved !== undefined) return approvedFacts(approved, userId, this.#parts.clock());
    const writer = { tool: found.tool.name, plugin: found.family, userId, callId: record.callId };
    const facts = writeFacts({ ...writer, origin, isUpkeep, kind, atMs });
    return { ...facts, trust: lowestOf(facts.trust, read) };
  }

  /** Puts on record what the model's run has read, in this hold if it may commit. */
  async #noteReads(
    { modelRun, mayCommit, userId }: RunningCall,
    held: HeldHomes,
    { result, decided, isDone, ofCall }: Omit<Answered, "step" | "toNote"> & Pick<Written, "ofCall">,
  ): Promise<Answered> {
    const answered = { step: "answer", result, decided, isDone, toNote: null } as const;
    const { runTrust } = this.#parts;
    if (modelRun === null || ofCall === null || !lowersRun(ofCall)) return answered;
    const user = userHome(userId);
    if (!mayCommit) {
      const isLow = held.has(user) && (await runTrust.isLow(held.of(user).records, modelRun, ofCall));
      return isLow ? answered : { ...answered, toNote: ofCall };
    }
    const { records } = held.of(user);
    try {
      await runTrust.commitWith(records, modelRun, ofCall, () => records.commit());
    } catch (error) {
      // Then the answer is withheld, or it counts in this process.
      runTrust.keep(modelRun, ofCall, { error, isNeeded: !isDone });
    }
    return answered;
  }

  /** Puts on record what a call has read that changes nothing, in a hold of its own: its answer waits until that is durable. */
  async #noteAfterwards({ modelRun, userId, turn: { signal } }: RunningCall, trust: OriginClass): Promise<void> {
    if (modelRun === null) return;
    const { store, admission, runTrust } = this.#parts;
    const until = performance.now() + admission.waitMs;
    const user = userHome(userId);
    try {
      await store.hold([user], "write", { until, signal }, async (held) => {
        const { records } = held.of(user);
        await runTrust.commitWith(records, modelRun, trust, () => records.commit());
      });
    } catch (error) {
      runTrust.keep(modelRun, trust, { error, isNeeded: true });
    }
  }

  /** Waits for the last call as `Admission.close` does, then closes the store and stops the threads. */
  async close(graceMs: number): Promise<void> {
    const { admission, leftOver, store, pool } = this.#parts;
    await admission.close(graceMs);
    await Promise.all([leftOver.close().then(() => store.close()), pool.close()]);
  }
}

interface Written extends Omit<Answered, "step" | "toNote">, Omit<CallChanges, "facts"> {
  /** The lowest trust of what the run has read in earlier calls. */
  readonly ofRun: OriginClass;
  /** The time that the guest was given. */
  readonly epochMs: number;
}

/** Whether the changes of a call are dropped. */
const keepsNothing = ({ mode, view }: CallOptions): boolean => mode === "look" || view !== undefined;

function knownSizesOf(held: HeldHomes, homes: readonly Home[]): KnownSizes {
  const [first, ...others] = homes.map((home) => held.of(home).knownSizes);
  return Object.assign({}, first, ...others) as KnownSizes;
}

const changing = (action: string): ToolError =>
  new ToolError(
    "BUSY",
    `Cannot ${action}: what it reaches and wants to write has changed in ${roundsMax} runs, the maximum`,
  );

const denied = (reason: string): ToolError => new ToolError("CAPABILITY_DENIED", `Cannot use another store: ${reason}`);
