/** Finds the writes that wait, and ends their waiting, each once. */
import { ownStoreName } from "../../shared/shared-scope.ts";
import {
  approvalsIn,
  becameOf,
  decisionAbout,
  decisionsIn,
  noteDecisions,
  notWaiting,
  wholeIdOf,
} from "../gate/decisions.ts";
import type { Approvals, Decision } from "../gate/decisions.ts";
import { addPending, findPending, listPending, pendingIdOf } from "../gate/pending.ts";
import type { PendingChange, PendingWrite } from "../gate/pending.ts";
import { userHome } from "../store/home.ts";
import type { HostRecords } from "../store/host-records.ts";
import { storeOfScope } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { passOver } from "./operate.ts";
import type { Operation } from "./operation.ts";

/** Those that wait and that `isAsked` wants, the oldest first. Of a place that cannot be read, each that has a record. */
export async function waitingWrites(
  operation: Operation,
  isAsked: (write: PendingWrite) => boolean = () => true,
): Promise<PendingWrite[]> {
  const listed = await operation.hold("read", [], ({ records }) =>
    listPending(records, operation.now(), (write) => (isAsked(write) ? write : null)),
  );
  const { approvals } = await lookUp(operation, listed);
  const applied = listed.filter(({ id }) => approvals.has(id));
  // Whoever has approved them was killed. Where nothing can be written, their records stay.
  if (applied.length > 0) await endWaiting(operation, applied, "approved").catch(passOver);
  return listed.filter(({ id }) => !approvals.has(id));
}

/** One that waits. Throws `ENTRY_NOT_FOUND`, with what has become of it. */
export async function waitingOne(operation: Operation, id: string): Promise<PendingWrite> {
  const write = await recordOf(operation, id);
  const { approvals, unread } = await lookUp(operation, [write]);
  const [failure, decision] = [unread.get(write.id), approvals.get(write.id)];
  if (failure !== undefined) throw failure;
  if (decision !== undefined) throw notWaiting(operation.action, write.id, decision);
  return write;
}

/** One that has a record: it waits, unless the history of its files says otherwise. Throws as `waitingOne`. */
async function recordOf(operation: Operation, typed: string): Promise<PendingWrite> {
  return await operation.hold("read", [], async ({ records }) => {
    const id = await wholeIdOf(records, typed);
    const write = await findPending(records, id, operation.now());
    if (write === null) throw notWaiting(operation.action, id, await decisionAbout(records, id));
    return write;
  });
}

/** Ends the waiting of one, without a change of files. Throws as `waitingOne`. `again`: what waits in its place. */
export async function endOne(
  operation: Operation,
  id: string,
  how: Decision["how"],
  again?: Omit<PendingWrite, "id">,
): Promise<PendingWrite> {
  const write = await recordOf(operation, id);
  const decision = (await endWaiting(operation, [write], how, again)).get(write.id);
  if (decision !== undefined) throw notWaiting(operation.action, write.id, decision);
  return write;
}

/** Ends the waiting of writes. Returns those that have not waited any more, with what had become of them. */
export async function endWaiting(
  operation: Operation,
  writes: readonly PendingWrite[],
  how: Decision["how"],
  again: Omit<PendingWrite, "id"> | null = null,
): Promise<ReadonlyMap<string, Decision | null>> {
  const by = again && pendingIdOf(again);
  return await decide(operation, writes, async (records, approvals) => {
    const atMs = operation.now();
    const others = new Map<string, Decision | null>();
    const ended: Decision[] = [];
    for (const { id } of writes) {
      await giveTurn();
      const decision = await becameOf(records, approvals, { id, atMs });
      if (decision !== undefined) others.set(id, decision);
      // The record of one that was applied is removed as well.
      if (decision === undefined || approvals.has(id)) ended.push(decision ?? { id, how, atMs, by });
    }
    const end = async ({ isNoted }: { readonly isNoted: boolean }): Promise<void> => {
      for (const { id } of ended) await records.remove("pending", id);
      if (again !== null && others.size === 0)
        await addPending(records, again, { action: operation.action, isReplacing: true });
      if (isNoted && ended.length > 0) await noteDecisions(records, ended);
      await records.commit();
    };
    await end({ isNoted: true }).catch(async (error: unknown) => {
      passOver(error);
      // The note only tells others. A full disk keeps nobody from rejecting.
      records.drop();
      await end({ isNoted: false });
    });
    return others;
  });
}

/** Does work while nobody else decides about some writes. `approvals`: those of their files. */
async function decide<Result>(
  operation: Operation,
  writes: readonly PendingWrite[],
  work: (records: HostRecords, approvals: Approvals) => Promise<Result>,
): Promise<Result> {
  const { store, userId } = operation;
  const user = userHome(userId);
  const { unread } = await lookUp(operation, writes);
  const scopes = new Set(writes.flatMap((write) => (unread.has(write.id) ? [] : placeOf(write))));
  const besides = Array.from(scopes, (scope) => store.homeOf(userId, [scope]));
  return await operation.holdHomes([user], "write", { scopes: [], besides }, async (held) => {
    const { records } = held.of(user);
    // An approval is noted before its commit in another home: nobody can say whether it was made.
    const begun = (await decisionsIn(records)).find(({ id, how }) => how === "approved" && unread.has(id));
    if (begun !== undefined) throw unread.get(begun.id);
    return await work(records, await approvalsIn(besides.map((home) => held.of(home).history)));
  });
}

/** The approvals of the files of writes; and by their ids, why a place cannot be read, such as a mounted folder that is gone. */
async function lookUp(
  operation: Operation,
  writes: readonly PendingWrite[],
): Promise<{ readonly approvals: Approvals; readonly unread: ReadonlyMap<string, ToolError> }> {
  const [approvals, unread] = [new Map<string, Decision>(), new Map<string, ToolError>()];
  for (const scope of new Set(writes.flatMap(placeOf))) {
    try {
      const here = await operation.hold("read", [scope], ({ history }) => approvalsIn([history]));
      for (const [id, decision] of here) approvals.set(id, decision);
    } catch (error) {
      if (!(error instanceof ToolError) || !error.code.startsWith("STORAGE_")) throw error;
      for (const write of writes) if (placeOf(write).includes(scope)) unread.set(write.id, error);
    }
  }
  return { approvals, unread };
}

/** A scope of its files, as the owner knows it; none if it changes nothing. */
const placeOf = ({ changes }: PendingWrite): string[] => changes.slice(0, 1).map(scopeOf);

/** A change's scope, as the owner knows it: the own store is `store`. */
export const scopeOf = ({ scope }: Pick<PendingChange, "scope">): string =>
  storeOfScope(scope) === null ? scope : ownStoreName;
