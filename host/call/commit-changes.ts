/** Commits what a call changes, in one home or store by store, with what the host keeps about it. */
import { changedStoresMax } from "../audit/audit-record.ts";
import type { ApprovedWrite } from "../gate/approval.ts";
import type { RunTrust } from "../gate/run-trust.ts";
import { changedGrants } from "../sharing/changed-grants.ts";
import { grantsIn } from "../sharing/grants-file.ts";
import type { CommitOfHome, HeldHome, HeldHomes } from "../store/held-homes.ts";
import { storeHome, userHome } from "../store/home.ts";
import { StaleCall } from "../store/plan-changes.ts";
import { checkedStore, digestOf } from "../store/reading.ts";
import type { WriteFacts } from "../store/versions/version.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { ownStoreOf } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { asToolError, reasonOf, ToolError } from "../values/tool-error.ts";
import { factsIn } from "./judged-write.ts";
import type { RunReads } from "./judged-write.ts";
import type { OwnWork } from "./own-work.ts";
import type { RunningCall } from "./running-call.ts";

interface CommitParts {
  readonly own: OwnWork;
  readonly runTrust: RunTrust;
  readonly clock: () => number;
}

interface CallChanges {
  readonly changes: readonly SizedChange[];
  readonly facts: WriteFacts;
  readonly reply: WorkerReply;
  readonly reads: RunReads;
  /** The home of its tool, or the user's own store. */
  readonly home: HeldHome;
}

export async function commitChanges(
  parts: CommitParts,
  call: RunningCall,
  held: HeldHomes,
  wanted: CallChanges,
): Promise<void> {
  const commit = (): Promise<void> =>
    call.questions === null ? commitHome(parts, call, wanted) : commitStores(parts, call, held, wanted);
  const { decision } = call.options;
  if (decision === undefined) await commit();
  else await commitApproved(decision, { parts, call, held, home: wanted.home }, commit);
}

/** What the run has read is in the same commit, if it is kept in the same home. */
async function commitHome(
  { own, runTrust }: CommitParts,
  { modelRun, options, record }: RunningCall,
  { changes, facts, reply: { seen, knownSizes }, reads, home }: CallChanges,
): Promise<void> {
  const lowers = home.home.kind === "user" && modelRun && (await runTrust.lower(home.records, modelRun, reads.ofCall));
  const prepared = { changes, seen: [...seen, ...home.reader.seen], knownSizes, facts, kind: options.kind };
  await own.commit(prepared, home, record);
  if (lowers) runTrust.written(modelRun);
}

/**
 * A write that its owner has approved leaves those that wait in the same commit, if there is one for both homes. Else first
 * comes what is decided, then the change, then the rest, all under the locks; a process that is killed in between leaves what
 * `begin` has written, and the next decision ends it.
 */
async function commitApproved(
  decision: ApprovedWrite,
  { parts, call, held, home }: Committing,
  commit: () => Promise<void>,
): Promise<void> {
  const { records } = held.of(userHome(call.userId));
  await decision.begin(records, home.history);
  if (home.home.kind === "user" || held.isAtomic) {
    await decision.end(records);
    return await commit();
  }
  await records.commit();
  await commit();
  try {
    await decision.end(records);
    await records.commit();
  } catch (error) {
    // The change counts.
    parts.own.noteLeft(asToolError(error, "remove a record"), call.record);
  }
}

interface Committing extends Pick<CallChanges, "home"> {
  readonly parts: CommitParts;
  readonly call: RunningCall;
  readonly held: HeldHomes;
}

/**
 * Store by store, in the order in which its guest has first changed them: each durably, before the next. A crash in between
 * leaves the later ones as they were.
 */
async function commitStores(
  { own, clock }: CommitParts,
  { userId, action, record, options: { kind } }: RunningCall,
  held: HeldHomes,
  { changes, facts: told, reply: { seen, knownSizes, grants }, home }: CallChanges,
): Promise<void> {
  const principal = ownStoreOf(userId);
  const changed = grants && changedGrants(principal, await grantsIn(home), grants, clock());
  const parts = byStore(changes);
  if (changed && !parts.has(principal)) parts.set(principal, []);
  refuseMany(action, parts.size);
  const all = [...seen, ...[...parts.keys()].flatMap((id) => held.of(storeHome(id)).reader.seen)];
  if (parts.size > 1) await refuseEdited(held, seen);
  const facts = factsIn(told, changes, principal);
  const wanted = Array.from(parts, ([id, ofStore]): CommitOfHome => {
    const stored = id === principal ? changed?.stored : undefined;
    return [storeHome(id), { by: userId, changes: ofStore, seen: all, facts, kind, knownSizes, grants: stored }];
  });
  // What is staged about the user goes with them.
  const user = userHome(userId);
  if (held.isAtomic && held.has(user)) wanted.push([user, { changes: [], seen: [] }]);
  record.staged(changes, changed?.changes);
  try {
    await held.commitEach(wanted, ({ kind: of, id }) => {
      if (of !== "store") return;
      const ofStore = parts.get(id) ?? [];
      record.committed({ changes: ofStore, granted: (id === principal && changed?.changes) || [] });
      if (ofStore.length === 0) return;
      const head = held.of(storeHome(id)).history.filesHead;
      record.versioned([{ store: id, ...head }]);
      own.tellLater(ofStore, record);
    });
  } catch (error) {
    throw record.isCommitted ? onlyInPart(action, error) : error;
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
async function refuseEdited(held: HeldHomes, seen: readonly Seen[]): Promise<void> {
  for (const { scope, path, digest } of seen) {
    const present = await held.of(storeHome(checkedStore(scope))).reader.bytesOf(scope, path);
    if (digestOf(present) !== digest) throw new StaleCall();
  }
}

function onlyInPart(action: string, error: unknown): ToolError {
  const failure = asToolError(error, action);
  const message = `Cannot ${action} as a whole: its changes of some stores are made, and those of the others are not`;
  return new ToolError(failure.tableCode, `${message} (${reasonOf(failure)})`, { cause: error });
}
