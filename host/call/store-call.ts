/**
 * A call of a tool with the scope `store:*`. It reaches shared stores, and no user's folder.
 *
 * Which stores it asks for is known only when its guest runs. So the guest first runs with the user's own store; if it
 * cannot change anything, also with those that the user is known to reach, if they are few. If it asks for others, its
 * run is dropped, the host decides about them, and the guest runs again from the start.
 */
import { sharingLimits } from "../../shared/limits.ts";
import { lowestOf } from "../../shared/origin.ts";
import { changedStoresMax } from "../audit/audit-record.ts";
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { changedGrants } from "../sharing/changed-grants.ts";
import { grantsIn } from "../sharing/grants-file.ts";
import { inStore, ownReader } from "../sharing/own-store.ts";
import type { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { StaleCall } from "../store/plan-changes.ts";
import { checkedStore, digestOf } from "../store/reading.ts";
import { entriesScope } from "../store/shared-stores.ts";
import type { ChangesOfStore, HeldStores, SharedStores, StoreHoldOptions } from "../store/shared-stores.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { DecidedStores } from "../values/decided-stores.ts";
import { scopeOfStore, storeOfScope } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { asToolError, reasonOf, ToolError } from "../values/tool-error.ts";
import { resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import type { UserId } from "../values/user-id.ts";
import type { Turn } from "./admission.ts";
import { keepsNothing } from "./asked-call.ts";
import type { CallOptions, HeldInTurn, PreparedChanges } from "./asked-call.ts";
import { seenEntries, withOrigins } from "./entry-view.ts";
import { ofAnother } from "./gated-call.ts";
import type { GatedCall } from "./gated-call.ts";
import type { GuestRun, RunOptions } from "./guest-runs.ts";
import { scopesOfStores } from "./read-scope.ts";

export interface StoreCall {
  readonly found: CatalogTool;
  readonly userId: UserId;
  /** The user's own store. */
  readonly principal: StoreId;
  readonly shared: SharedStores;
  readonly questions: StoresInQuestion;
  readonly hold: Omit<StoreHoldOptions, "until" | "signal">;
  readonly turn: Turn;
  /** In messages. */
  readonly action: string;
  /** Asks about what the guest wants to write; the guest then runs again. */
  readonly askProgram: () => Promise<void>;
  /** What the host adds to a call of its own, on the user's own store. */
  readonly options: CallOptions;
  readonly record: CallRecord;
  readonly gated: GatedCall;
  /** Runs the guest from the start. */
  readonly run: (options: RunOptions) => Promise<GuestRun>;
  readonly clock: () => number;
  /** Notifies listeners of a commit. */
  readonly tell: (changes: readonly SizedChange[]) => void;
}

type Ended =
  | { readonly result: ToolResult; readonly decided: DecidedStores }
  | { readonly wanted: NonNullable<WorkerReply["wanted"]> };

/** `null`: the program must be asked first, and nothing was done. */
type Attempt = Ended | null;

export async function callWithStores(call: StoreCall): Promise<ToolResult> {
  const { questions, hold, options } = call;
  if (options.within !== undefined) return await callWithin(call, options.within);
  if (!hold.writes) await questions.addFew();
  for (let run = 1; run <= sharingLimits.runsMax; run++) {
    const ended = await runOnce(call);
    if ("result" in ended) return ended.result;
    await questions.add(ended.wanted);
  }
  const reason = `this call has asked for more stores in ${sharingLimits.runsMax} runs, the maximum`;
  throw new ToolError("CAPABILITY_DENIED", `Cannot use another store: ${reason}`);
}

/** How often the guest runs at most before it has ended, because of what the program says, or takes to say it. */
const roundsMax = 8;

/** Nobody can be asked about another store meanwhile. */
async function callWithin(call: StoreCall, { held: { stores } }: HeldInTurn): Promise<ToolResult> {
  if (stores === undefined) throw new RangeError("The user's own store is not held");
  const ended = await attempt(call, stores);
  if (ended !== null && "result" in ended) return ended.result;
  throw new ToolError("CAPABILITY_DENIED", "Cannot use another store: only the user's own is held");
}

/** The program is asked between two holds: while it answers, nobody waits for a store. */
async function runOnce(call: StoreCall): Promise<Ended> {
  const { questions, record, action } = call;
  for (let round = 1; round <= roundsMax; round++) {
    await questions.askProgram();
    const ended = await holdOnce(call);
    if (ended === null) await call.askProgram();
    else if ("wanted" in ended || record.isCommitted || (await questions.areStillVouched(ended.decided))) return ended;
  }
  const reason = `what it reaches and wants to write has changed in ${roundsMax} runs, the maximum`;
  throw new ToolError("BUSY", `Cannot ${action}: ${reason}`);
}

async function holdOnce(call: StoreCall): Promise<Attempt> {
  const { shared, questions, turn } = call;
  const hold = { ...call.hold, until: turn.until, signal: turn.signal };
  if (hold.writes && questions.held.length > 1) {
    await shared.hold(questions.held, { ...hold, as: questions.as, writes: false }, (held) => questions.survey(held));
  }
  const { onlyRead } = questions;
  if (questions.isLacking) return null;
  return await shared.hold(questions.held, { ...hold, as: questions.as, onlyRead }, (held) => attempt(call, held));
}

async function attempt(call: StoreCall, held: HeldStores): Promise<Attempt> {
  const { found, questions, record, principal, options, gated } = call;
  const decided = await questions.decide(held);
  if (questions.isLacking) return null;
  const reader = ownReader(held, principal);
  const entries = await seenEntries(found, scopesOfStores(held, decided), options);
  const { stage: asked } = options;
  const stage = async (ms: number): Promise<SizedChange[]> => [
    ...inStore((await asked?.(reader, ms)) ?? [], principal),
    ...entries.changes,
  ];
  gated.restart();
  const { epochMs, staged, reply } = await call.run({
    stores: decided,
    knownSizes: held.knownSizes,
    handed: held.handed,
    stage,
  });
  if (reply.wanted !== null) return { wanted: reply.wanted };
  record.reached(decided.stores);
  const { envelope, changes, grants, knownSizes } = reply;
  for (const id of new Set(reply.seen.flatMap(({ scope }) => storeOfScope(scope) ?? []))) {
    await gated.hasReadStore(held.history(id), reply.seen, { id, isOwn: id === principal });
  }
  if (!envelope.ok) return { result: resultOf(envelope), decided };
  const accepted = (await options.accepts?.(envelope, changes, reader)) ?? [];
  const isStill = await questions.isStill(decided, held);
  if (questions.isLacking) return null;
  // A grant has expired meanwhile.
  if (!isStill) throw new StaleCall();
  const ended = { result: await withOrigins(envelope, reply, entries), decided };
  if (keepsNothing(options)) return ended;
  const all = [...staged, ...changes, ...inStore(accepted, principal)];
  const facts = gated.facts(epochMs);
  const bytesOf = (scope: string, path: string): Promise<Uint8Array | null> =>
    held.reader(storeOfScope(scope) ?? principal).bytesOf(entriesScope, path);
  const waits = await gated.waits(all, facts, bytesOf, { whyNot: whyNotWait(all, grants, principal), grants });
  if (waits === true || (waits === false && all.length === 0 && grants === null)) return ended;
  if (!questions.isAskedAgain(decided) || waits === null) return null;
  const seen = [...reply.seen, ...held.seen];
  const written = isOwn(all, principal) ? facts : { ...facts, trust: lowestOf(facts.trust, ofAnother) };
  const { kind, decision } = options;
  await commit(call, held, { changes: all, seen, knownSizes, grants, facts: written, kind, decision });
  return ended;
}

/** Only the owner of the own store can approve what is written there; nobody can approve for another store's owner. */
function whyNotWait(changes: readonly SizedChange[], grants: Commit["grants"], principal: StoreId): string | null {
  if (grants !== null) return "a change of grants cannot wait";
  return isOwn(changes, principal) ? null : "only writes to the user's own store can wait";
}

const isOwn = (changes: readonly SizedChange[], principal: StoreId): boolean =>
  changes.every(({ scope }) => scope === scopeOfStore(principal));

interface Commit extends PreparedChanges {
  readonly grants: WorkerReply["grants"];
}

/**
 * Commits what the call changes store by store, in the order in which its guest has first changed them: each durably,
 * before the next. A crash in between leaves the later ones as they were.
 */
async function commit(call: StoreCall, held: HeldStores, prepared: Commit): Promise<void> {
  const { userId: by, principal, record, tell, clock } = call;
  const { changes, seen, knownSizes, grants, facts, kind, decision } = prepared;
  const changed = grants && changedGrants(principal, await grantsIn(held, principal), grants, clock());
  const parts = byStore(changes);
  if (changed && !parts.has(principal)) parts.set(principal, []);
  refuseMany(call.action, parts.size);
  if (parts.size > 1) await refuseEdited(held, seen);
  const more = { by, seen, facts, kind, decision, ...(knownSizes && { knownSizes }) };
  const wanted = Array.from(parts, ([id, ofStore]): ChangesOfStore => {
    return [id, { ...more, changes: ofStore, grants: id === principal ? changed?.stored : undefined }];
  });
  const isChanged = changes.length > 0 || changed !== null;
  if (isChanged) record.staged(changes, changed?.changes);
  try {
    await held.commitEach(wanted, (id) => {
      const ofStore = parts.get(id) ?? [];
      record.committed({ changes: ofStore, granted: (id === principal && changed?.changes) || [] });
      if (ofStore.length === 0) return;
      record.versioned([{ store: id, ...held.history(id).head }]);
      tell(ofStore);
    });
  } catch (error) {
    throw record.isCommitted ? onlyInPart(call.action, error) : error;
  }
}

/** How many stores a call can change: a record of the audit log names no more. */
function refuseMany(action: string, count: number): void {
  if (count <= changedStoresMax) return;
  const reason = `it changes ${count} stores, at most ${changedStoresMax} allowed`;
  throw new ToolError("QUOTA_EXCEEDED", `Cannot ${action}: ${reason}`);
}

function byStore(changes: readonly SizedChange[]): Map<StoreId, SizedChange[]> {
  const parts = new Map<StoreId, SizedChange[]>();
  for (const change of changes) {
    const id = checkedStore(change.scope);
    parts.set(id, [...(parts.get(id) ?? []), change]);
  }
  return parts;
}

/** The call can run again only as long as nothing is committed, so all that it has read is looked at before. */
async function refuseEdited(held: HeldStores, seen: readonly Seen[]): Promise<void> {
  for (const { scope, path, digest } of seen) {
    const present = await held.reader(checkedStore(scope)).bytesOf(entriesScope, path);
    if (digestOf(present) !== digest) throw new StaleCall();
  }
}

function onlyInPart(action: string, error: unknown): ToolError {
  const failure = asToolError(error, action);
  const message = `Cannot ${action} as a whole: its changes of some stores are made, and those of the others are not`;
  return new ToolError(failure.tableCode, `${message} (${reasonOf(failure)})`, { cause: error });
}
