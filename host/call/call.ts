/**
 * A call, from top to bottom: check → wait → hold → run → judge → gate → commit → note what was read → answer.
 *
 * An attempt is made again from the start, and nothing of the one before counts, if the files have changed meanwhile (three
 * times at most: `store.hold` does that), if the guest asks for other stores, if a write is to wait and the user's home is not
 * held, or if the program must be asked first or has changed its mind. `modelRun` is the run of a model that the caller
 * names; whatever else runs here is the guest.
 */
import { sharingLimits } from "../../shared/limits.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { Recorder } from "../audit/collect/recorder.ts";
import { stagePending } from "../gate/gate.ts";
import { lowersRun } from "../gate/run-trust.ts";
import type { UserRun } from "../gate/run-trust.ts";
import { encodeInput } from "../guest/guest-json.ts";
import type { LogLine } from "../log/log-entry.ts";
import { mayChange, reachesStores } from "../plugins/loaded-tools.ts";
import { exportFor } from "../plugins/tool-commands.ts";
import type { LeftOverErasures } from "../sharing/finish-erased.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { Vouching } from "../sharing/vouching.ts";
import type { ContextualAccess } from "../sharing/vouching.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import { commits, ownStoreHome, userHome } from "../store/home.ts";
import type { Home, HoldOptions, Mode } from "../store/home.ts";
import type { HostRecords } from "../store/host-records.ts";
import { StaleCall } from "../store/plan-changes.ts";
import type { KnownSizes } from "../store/scope-size.ts";
import type { WorkerReply } from "../thread/worker.ts";
import { checkContext, readContext } from "../values/call-context.ts";
import type { AskedContext } from "../values/call-context.ts";
import type { SizedChange } from "../values/change-set.ts";
import type { DecidedStores } from "../values/decided-stores.ts";
import { inStore, ownStoreOf } from "../values/store-id.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import { failedResult, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { Turn } from "./admission.ts";
import { keepsNothing } from "./asked-call.ts";
import type { AskedCall, CallOptions, EndedCall } from "./asked-call.ts";
import { commitChanges } from "./commit-changes.ts";
import { seenEntries, withOrigins } from "./entry-view.ts";
import { GuestRuns, KilledGuests } from "./guest-runs.ts";
import type { GuestRunsParts } from "./guest-runs.ts";
import { factsOf, readsEntries, trustOfReads, waits } from "./judged-write.ts";
import type { JudgedParts, RunReads } from "./judged-write.ts";
import type { OwnWork, OwnWorkParts } from "./own-work.ts";
import { scopesOfHome, scopesOfStores } from "./read-scope.ts";
import type { CheckedCall, RunningCall } from "./running-call.ts";

export interface CallRunnerParts extends GuestRunsParts, OwnWorkParts, JudgedParts {
  readonly recorder: Recorder;
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
      const work = (turn: Turn): Promise<ToolResult> => this.#inTurn(call, { turn, record, options });
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
    const isMounted = this.#parts.store.isMounted(record.userId, scopes);
    const plugin = this.#parts.identities[found.moduleIndex] ?? null;
    record.found({ plugin, scopes, rights }, isMounted);
    const checked = checkContext(context);
    const called = exportFor(found.tool, caller, input);
    record.found({ plugin, scopes, rights: called.rights }, isMounted);
    const text = encodeInput(name, input, inputBytesMax ?? this.#parts.limits.inputBytes);
    const inputBytes = Buffer.byteLength(text);
    return { ...checked, found, called, input: text, action: `call ${name}`, inputBytes, until };
  }

  async #inTurn(
    checked: CheckedCall,
    { turn, record, options }: Pick<RunningCall, "turn" | "record" | "options">,
  ): Promise<ToolResult> {
    const { userId, action } = checked;
    this.#killed.refuse(userId, action);
    const call = this.#begin(checked, { turn, record, options });
    try {
      const { result, toNote } = await this.#untilAnswered(call);
      if (toNote !== null) await this.#noteAfterwards(call, toNote);
      if (!result.ok && result.pending !== undefined) this.#own.tellOfPending(result.pending, record);
      return result;
    } finally {
      await this.#killed.pay(userId, call.guests.replaced);
    }
  }

  /** What stays the same in all attempts. */
  #begin(checked: CheckedCall, begun: Pick<RunningCall, "turn" | "record" | "options">): RunningCall {
    const { turn, record, options } = begun;
    const { userId, found, called, origin, stores, action } = checked;
    const { isUpkeep = false, approved } = options;
    const { store, clock, gate, contextualAccess } = this.#parts;
    const log = (lines: readonly LogLine[]): void => this.#own.log(lines, record.source);
    const guests = new GuestRuns(this.#parts, { ...checked, turn, record, isUpkeep, log, atMs: approved?.epochMs });
    const questions = (): StoresInQuestion => {
      const vouching = new Vouching({ userId, stores, action, turn }, contextualAccess);
      return new StoresInQuestion({ principal: ownStoreOf(userId), vouching, store, clock });
    };
    const isOwners = isUpkeep || approved !== undefined;
    return {
      ...checked,
      ...begun,
      guests,
      answers: gate.newAnswers(),
      questions: reachesStores(found) ? questions() : null,
      modelRun: !isOwners && origin.run !== null ? { userId, run: origin.run } : null,
      countsReads: !isOwners && readsEntries(found),
      mayCommit: !keepsNothing(options) && (options.stage !== undefined || mayChange(called.rights)),
    };
  }

  /** Attempts until one has an answer. The program is asked between two holds: while it answers, nobody waits for a home. */
  async #untilAnswered(call: RunningCall): Promise<Answered> {
    const { questions, action } = call;
    let holdsUser = call.options.decision !== undefined || (call.mayCommit && call.modelRun !== null);
    if (questions !== null && !call.mayCommit && call.options.within === undefined) await questions.addFew();
    for (let reached = 1; reached <= sharingLimits.runsMax; reached++) {
      let wanted: NonNullable<WorkerReply["wanted"]> | null = null;
      for (let round = 1; wanted === null; round++) {
        if (round > roundsMax) throw changing(action);
        if (call.options.within === undefined) await questions?.askProgram();
        const attempt = await this.#hold(call, holdsUser);
        if (attempt.step === "answer") {
          // Else the program has changed its mind.
          if (attempt.isDone || (await isStillVouched(call, attempt.decided))) return attempt;
        } else if (attempt.step === "reach") wanted = attempt.wanted;
        else if (attempt.step === "hold user") {
          holdsUser = true;
          call.guests.repeat();
        } else if (await call.answers?.askLacking(call.turn, action)) call.guests.repeat();
      }
      if (call.options.within !== undefined) throw denied("only the user's own is held");
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
    if (questions.isLacking) return { step: "ask" };
    const { homes, onlyRead } = questions;
    return await store.hold(homes, mode, { ...asked, as: questions.as, onlyRead }, attempt);
  }

  /** The home of a tool that reaches no stores, or else the user's own store, under the name that calls give it. */
  #homeOf({ userId, found, options }: RunningCall): Home {
    return options.within?.home ?? this.#parts.store.homeOf(userId, found.tool.scopes);
  }

  async #attempt(call: RunningCall, held: HeldHomes): Promise<Attempt> {
    const { found, questions, options, record, userId } = call;
    const inOwn = (changes: readonly SizedChange[]): readonly SizedChange[] =>
      questions === null ? changes : inStore(changes, ownStoreOf(userId));
    const decided = questions && (await questions.decide(held));
    if (questions?.isLacking) return { step: "ask" };
    const home = held.of(questions ? ownStoreHome(userId) : this.#homeOf(call));
    const scopes = decided ? scopesOfStores(held, decided) : scopesOfHome(home, found.tool.scopes);
    const ofRun = await this.#trustOfRun(call, held);
    const entries = await seenEntries(found, scopes, options);
    const { epochMs, staged, reply } = await call.guests.run({
      ...(decided && { stores: decided }),
      knownSizes: knownSizesOf(held, questions?.homes ?? [home.home]),
      handed: held.handed,
      freedBytes: options.freedBytes,
      stage: async (ms) => [...inOwn((await options.stage?.(home.reader, ms)) ?? []), ...entries.changes],
      notesSeen: needsReads(call) || entries.view !== null || entries.isTold,
    });
    if (reply.wanted !== null) return { step: "reach", wanted: reply.wanted };
    if (decided) record.reached(decided.stores);
    const reads: RunReads = {
      ofRun,
      ofCall: needsReads(call) ? await trustOfReads(call, held, reply.seen, home) : null,
    };
    const answered = { decided, reads, isDone: false };
    if (!reply.envelope.ok) return await this.#noteReads(call, held, { ...answered, result: resultOf(reply.envelope) });
    const accepted = (await options.accepts?.(reply.envelope, reply.changes, home.reader)) ?? [];
    const isStill = decided === null || (await questions?.isStill(decided, held)) === true;
    if (questions?.isLacking) return { step: "ask" };
    // A grant has expired meanwhile.
    if (!isStill) throw new StaleCall();
    const result = await withOrigins(reply.envelope, reply, entries);
    if (keepsNothing(options)) return await this.#noteReads(call, held, { ...answered, result });
    const changes = [...staged, ...reply.changes, ...inOwn(accepted)];
    return await this.#gate(call, held, { ...answered, result, changes, reply, epochMs, home });
  }

  /** The gate decides: the changes take effect, wait for the owner of the memory, or are refused. */
  async #gate(call: RunningCall, held: HeldHomes, write: Written): Promise<Attempt> {
    const { questions, userId } = call;
    const { changes, reply, decided, reads, epochMs } = write;
    const changesNothing = changes.length === 0 && reply.grants === null;
    if (changesNothing && call.options.approved === undefined) return await this.#noteReads(call, held, write);
    const facts = factsOf(call, { atMs: epochMs, reads }, this.#parts.clock);
    const waiting = await waits(this.#parts.gate, call, held, { ...write, grants: reply.grants, facts });
    if (waiting === null) return { step: "ask" };
    if (waiting === false && changesNothing) return await this.#noteReads(call, held, write);
    // Nothing is durable before the program was asked a second time about the stores that the call reaches by its word.
    if (decided !== null && questions?.isAskedAgain(decided) === false) return { step: "ask" };
    const { runTrust, clock } = this.#parts;
    if (waiting === false) {
      await commitChanges({ own: this.#own, runTrust, clock }, call, held, { ...write, facts });
      return await this.#noteReads(call, held, { ...write, isDone: true });
    }
    const user = userHome(userId);
    // Of a tool that works elsewhere, and a call without a run.
    if (!held.has(user)) return { step: "hold user" };
    const { records } = held.of(user);
    const failure = await stagePending(records, waiting);
    const lowers = await runTrust.lower(records, call.modelRun, reads.ofCall);
    await records.commit();
    if (lowers) runTrust.written(call.modelRun);
    held.keepResult();
    return await this.#noteReads(call, held, { decided, reads, result: failedResult(failure), isDone: true });
  }

  /** Puts on record what the model's run has read, in this hold if it may commit. */
  async #noteReads(
    call: RunningCall,
    held: HeldHomes,
    { result, decided, isDone, reads }: Omit<Answered, "step" | "toNote"> & { readonly reads: RunReads },
  ): Promise<Answered> {
    const answered = { step: "answer", result, decided, isDone, toNote: null } as const;
    const { modelRun, mayCommit, userId } = call;
    const { runTrust } = this.#parts;
    if (modelRun === null || reads.ofCall === null || !lowersRun(reads.ofCall)) return answered;
    const trust = reads.ofCall;
    const user = userHome(userId);
    if (mayCommit) await this.#lower(held.of(user).records, modelRun, { trust, isNeeded: !isDone });
    else if (!held.has(user) || !(await runTrust.isLow(held.of(user).records, modelRun, trust))) {
      return { ...answered, toNote: trust };
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
        await this.#lower(held.of(user).records, modelRun, { trust, isNeeded: true });
      });
    } catch (error) {
      runTrust.keep(modelRun, trust, { error, isNeeded: true });
    }
  }

  /** If it cannot be written, the answer is withheld (`isNeeded`), or it counts in this process. */
  async #lower(
    records: HostRecords,
    run: UserRun,
    { trust, isNeeded }: { readonly trust: OriginClass; readonly isNeeded: boolean },
  ): Promise<void> {
    const { runTrust } = this.#parts;
    try {
      if (!(await runTrust.lower(records, run, trust))) return;
      await records.commit();
      runTrust.written(run);
    } catch (error) {
      runTrust.keep(run, trust, { error, isNeeded });
    }
  }

  /** The lowest trust that the model's run has read in earlier calls. A record of it that was lost is begun anew. */
  async #trustOfRun({ modelRun, mayCommit, userId }: RunningCall, held: HeldHomes): Promise<OriginClass> {
    if (modelRun === null || !mayCommit) return "owner_edit";
    return await this.#parts.runTrust.of(held.of(userHome(userId)).records, modelRun);
  }

  /** Waits for the last call as `Admission.close` does, then closes the store and stops the threads. */
  async close(graceMs: number): Promise<void> {
    const { admission, leftOver, store, pool } = this.#parts;
    await admission.close(graceMs);
    await Promise.all([leftOver.close().then(() => store.close()), pool.close()]);
  }
}

interface Written extends Omit<Answered, "step" | "toNote"> {
  readonly reads: RunReads;
  readonly changes: readonly SizedChange[];
  readonly reply: WorkerReply;
  /** The time that the guest was given. */
  readonly epochMs: number;
  /** The home of its tool, or the user's own store. */
  readonly home: HeldHome;
}

function knownSizesOf(held: HeldHomes, homes: readonly Home[]): KnownSizes {
  const [first, ...others] = homes.map((home) => held.of(home).knownSizes);
  return Object.assign({}, first, ...others) as KnownSizes;
}

/** Whether it matters which files its guest reads: a call that changes nothing and names no run needs no history. */
const needsReads = ({ countsReads, modelRun, mayCommit }: RunningCall): boolean =>
  countsReads && (modelRun !== null || mayCommit);

/** Whether the program vouches for the same stores as before. For calls that hold nothing. */
const isStillVouched = async ({ questions }: RunningCall, decided: DecidedStores | null): Promise<boolean> =>
  questions === null || decided === null || (await questions.areStillVouched(decided));

const changing = (action: string): ToolError =>
  new ToolError(
    "BUSY",
    `Cannot ${action}: what it reaches and wants to write has changed in ${roundsMax} runs, the maximum`,
  );

const denied = (reason: string): ToolError => new ToolError("CAPABILITY_DENIED", `Cannot use another store: ${reason}`);
