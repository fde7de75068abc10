/** Commits what a call or an operation changes, home by home. What cannot be recorded is not committed. */
import { changedStoresMax } from "../audit/audit-record.ts";
import type { OperationRecord } from "../audit/collect/record.ts";
import { noteApproval } from "../gate/decisions.ts";
import { factsIn } from "../gate/gate.ts";
import type { RunTrust } from "../gate/runs.ts";
import { changedGrants, grantsIn } from "../sharing/grants.ts";
import type { HeldHomes, HomeCommit } from "../store/held-homes.ts";
import { keyOf, namedByCalls, storeHome, userHome } from "../store/home.ts";
import type { Home } from "../store/home.ts";
import { StaleCall } from "../store/plan-changes.ts";
import { checkedStore, digestOf } from "../store/reading.ts";
import type { WriteFacts } from "../store/versions/version.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ownStoreOf } from "../values/ids.ts";
import type { StoreId } from "../values/ids.ts";
import type { GrantChange } from "../values/store-grant.ts";
import { ToolError, asToolError, reasonOf } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { Ran, RunningCall } from "./asked-call.ts";
import type { Listeners } from "./listeners.ts";

/** What a call changes, and what the history says of that. */
interface CallChanges {
  readonly changes: readonly SizedChange[];
  readonly facts: WriteFacts;
}

interface CommitParts {
  readonly runTrust: RunTrust;
  readonly listeners: Listeners;
  readonly clock: () => number;
}

/**
 * Commits the changes of a call. What the host keeps about the user is in the same commit, if there is one for both homes: what
 * the run has read (then it returns `true`), and that a write which its owner has approved waits no more. Else the approval is
 * noted before, and the rest comes afterwards.
 */
export async function commitCall(
  { runTrust, listeners, clock }: CommitParts,
  call: RunningCall,
  ran: Ran,
  wanted: CallChanges,
): Promise<boolean> {
  const { userId, modelRun, record, action, options } = call;
  const { held, ofCall, home } = ran;
  const { approved } = options;
  const user = userHome(userId);
  const records = held.has(user) ? held.of(user).records : null;
  const isOne = records !== null && (home.home.kind === "user" || held.isAtomic);
  const parts = await partsOf(call, ran, wanted, clock);
  if (isOne && home.home.kind !== "user") parts.push({ home: user, changes: [], seen: [] });
  const committing = { action, record, listeners, inOrder: wanted.changes };
  const commit = (): Promise<void> => commitOnRecord(held, parts, committing);
  const withReads = (): Promise<void> =>
    isOne && modelRun !== null ? runTrust.commitWith(records, modelRun, ofCall, commit) : commit();
  if (approved !== undefined) {
    if (records === null) throw new RangeError("An approval is noted in the user's home, which is not held");
    await noteApproval(records, home.history, { action, id: approved.id, atMs: clock() });
    if (isOne) await records.remove("pending", approved.id);
    else await records.commit();
  }
  await withReads();
  return isOne;
}

/** What the call changes in each home: of stores, in the order in which its guest has first changed them. */
async function partsOf(
  { userId, action, inQuestion, options: { kind } }: RunningCall,
  { held, home, reply: { seen, knownSizes, grants } }: Ran,
  { changes, facts: told }: CallChanges,
  clock: () => number,
): Promise<RecordedCommit[]> {
  const ofAll = { by: userId, kind, knownSizes };
  if (inQuestion === null) {
    return [{ ...ofAll, home: home.home, changes, seen: [...seen, ...home.seen], facts: told }];
  }
  const own = ownStoreOf(userId);
  const changed = grants && changedGrants(own, await grantsIn(home), grants, clock());
  const byStore = new Map<StoreId, SizedChange[]>();
  for (const change of changes) {
    const id = checkedStore(change.scope);
    byStore.set(id, [...(byStore.get(id) ?? []), change]);
  }
  if (changed && !byStore.has(own)) byStore.set(own, []);
  // A record of the audit log names no more.
  if (byStore.size > changedStoresMax) {
    const reason = `it changes ${byStore.size} stores, at most ${changedStoresMax} allowed`;
    throw new ToolError("QUOTA_EXCEEDED", `Cannot ${action}: ${reason}`);
  }
  const all = [...seen, ...[...byStore.keys()].flatMap((id) => held.of(storeHome(id)).seen)];
  // The call can run again only as long as nothing is committed, so all that it has read is looked at before.
  for (const { scope, path, digest } of byStore.size > 1 ? seen : []) {
    if (digestOf(await home.withScope(scope).bytesOf(scope, path)) !== digest) throw new StaleCall();
  }
  const facts = factsIn(told, changes, own);
  return Array.from(byStore, ([id, ofStore]): RecordedCommit => {
    const ofGrants = id === own && changed ? { grants: changed.stored, granted: changed.changes } : {};
    return { ...ofAll, home: storeHome(id), changes: ofStore, seen: all, facts, ...ofGrants };
  });
}

/** What is changed in one home. One without changes and grants only commits what is staged about the user. */
export interface RecordedCommit extends HomeCommit {
  readonly home: Home;
  readonly changes: readonly SizedChange[];
  /** Whose access `grants` change. Default: nobody's. */
  readonly granted?: readonly GrantChange[] | undefined;
}

interface Committing {
  readonly action: string;
  readonly record: OperationRecord;
  readonly listeners: Listeners;
  /** All changes as the record names them, in the order in which they were made. */
  readonly inOrder: readonly SizedChange[];
}

/**
 * Records the changes of all homes, and then makes them, each home durably before the next. A crash in between leaves the later
 * ones as they were. Listeners are told at the end of the user's turn.
 */
export async function commitOnRecord(
  held: HeldHomes,
  parts: readonly RecordedCommit[],
  { action, record, listeners, inOrder }: Committing,
): Promise<void> {
  // The record is made in one piece, which counts in a turn that has begun.
  await giveTurn();
  const granted = parts.flatMap((part) => part.granted ?? []);
  record.staged(inOrder, granted);
  let hasBegun = false;
  const done = (home: Home): void => {
    const part = parts.find((each) => keyOf(each.home) === keyOf(home));
    if (part === undefined || (part.changes.length === 0 && part.grants === undefined)) return;
    hasBegun = true;
    const changes = namedByCalls(home, part.changes);
    const store = home.kind === "store" ? home.id : null;
    const end = changes.length === 0 ? null : { store, ...held.of(home).history.state().filesHead };
    record.committed(changes, part.granted, end);
    if (changes.length > 0) listeners.changed(changes, record);
  };
  try {
    await held.commitEach(
      parts.map((part) => [part.home, part]),
      done,
    );
  } catch (error) {
    throw hasBegun && parts.length > 1 ? onlyInPart(action, error) : error;
  }
}

function onlyInPart(action: string, error: unknown): ToolError {
  const failure = asToolError(error, action);
  const message = `Cannot ${action} as a whole: its changes of some stores are made, and those of the others are not`;
  return new ToolError(failure.tableCode, `${message} (${reasonOf(failure)})`, { cause: error });
}
