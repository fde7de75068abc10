/** Decides about writes that wait, each once: what a killed process has begun to approve is ended first. */
import { begunApprovals, hasApproved } from "../gate/approval.ts";
import { decisionAbout, forgetDecision, noteDecisions, notWaiting } from "../gate/decisions.ts";
import type { Decision } from "../gate/decisions.ts";
import { scopeOf } from "../gate/pending-write.ts";
import type { PendingWrite } from "../gate/pending-write.ts";
import { findPending, listPending } from "../gate/pending-writes.ts";
import type { HeldRecords } from "../store/held-records.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";

/** How often others can be killed while they approve, before this gives up. */
const attemptsMax = 5;

/** Does work that decides, while nobody else does. */
export async function decide<Result>(
  operation: Operation,
  work: (records: HeldRecords) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    await endBegun(operation);
    const done = await operation.holdRecords({ writes: true }, async (records) =>
      (await begunApprovals(records)).length > 0 ? null : { result: await work(records) },
    );
    if (done !== null) return done.result;
  }
  throw new ToolError("BUSY", `Cannot ${operation.action}: others decide about the user's writes all the time`);
}

/** What is kept of those that wait, the oldest first. Ends what was begun, if anything can be written. */
export async function waitingWrites<Kept>(
  operation: Operation,
  keep: (write: PendingWrite) => Kept | null,
): Promise<Kept[]> {
  const first = await listed(operation, keep);
  if (first.begun.size === 0) return first.writes.map(({ kept }) => kept);
  await endBegun(operation).catch(passOverFailure);
  const { writes, begun } = await listed(operation, keep);
  const waiting: Kept[] = [];
  for (const { kept, ...write } of writes) {
    if (!begun.has(write.id) || !(await isApplied(operation, write))) waiting.push(kept);
  }
  return waiting;
}

interface Listed<Kept> {
  readonly writes: readonly (PlacedWrite & { readonly kept: Kept })[];
  /** The ids of those whose approval was begun. */
  readonly begun: ReadonlySet<string>;
}

function listed<Kept>(operation: Operation, keep: (write: PendingWrite) => Kept | null): Promise<Listed<Kept>> {
  return operation.holdRecords({ writes: false }, async (records) => ({
    writes: await listPending(records, operation.now(), (write) => {
      const kept = keep(write);
      return kept && { ...placeOf(write), kept };
    }),
    begun: new Set((await begunApprovals(records)).map(({ id }) => id)),
  }));
}

/** A write that waits, and a scope in whose history its approval is, if it was made. */
interface PlacedWrite {
  readonly id: string;
  /** `null` if it has no changes. */
  readonly scope: string | null;
}

const placeOf = ({ id, changes: [first] }: PendingWrite): PlacedWrite => ({ id, scope: first ? scopeOf(first) : null });

function passOverFailure(error: unknown): void {
  if (!(error instanceof ToolError)) throw error;
}

/** One that waits. Throws `ENTRY_NOT_FOUND`, with what has become of it. */
export async function waitingOne(operation: Operation, id: string): Promise<PendingWrite> {
  const { write, decision } = await operation.holdRecords({ writes: false }, async (records) => ({
    write: await findPending(records, id, operation.now()),
    decision: await decisionAbout(records, id),
  }));
  if (write !== null && (decision === null || !(await isApplied(operation, placeOf(write))))) return write;
  throw notWaiting(operation.action, id, decision);
}

/** Ends the waiting of one, without a change of files. Throws `ENTRY_NOT_FOUND`, with what has become of it. */
export async function endOne(operation: Operation, id: string, how: Decision["how"]): Promise<PendingWrite> {
  return await decide(operation, async (records) => {
    const atMs = operation.now();
    const write = await findPending(records, id, atMs);
    if (write === null) throw notWaiting(operation.action, id, await decisionAbout(records, id));
    await endWaiting(records, [write], { how, atMs });
    return write;
  });
}

/** Ends the waiting of writes, for good. */
export async function endWaiting(
  records: HeldRecords,
  writes: readonly Pick<PendingWrite, "id">[],
  { how, atMs }: Pick<Decision, "how" | "atMs">,
): Promise<void> {
  for (const { id } of writes) await records.remove("pending", id);
  // It only tells others. A full disk keeps nobody from rejecting.
  const noted = noteDecisions(
    records,
    writes.map(({ id }) => ({ id, how, atMs, by: null })),
  );
  await noted.catch(passOverFailure);
}

async function endBegun(operation: Operation): Promise<void> {
  const begun = await operation.holdRecords({ writes: false }, async (records) => {
    const decisions = await begunApprovals(records);
    const writes: (readonly [Decision, PendingWrite | null])[] = [];
    // Also one that has waited too long: a single reading of the clock removes nothing.
    for (const each of decisions) writes.push([each, await findPending(records, each.id, 0)]);
    return writes;
  });
  for (const [decision, write] of begun) {
    const wasMade = write !== null && (await isApplied(operation, placeOf(write)));
    await operation.holdRecords({ writes: true }, async (records) => {
      if (wasMade || write === null) return await records.remove("pending", decision.id);
      const present = await decisionAbout(records, decision.id);
      if (present?.atMs === decision.atMs) await forgetDecision(records, decision);
    });
  }
}

/** Whether the history of the files says that an approval has applied it. */
async function isApplied(operation: Operation, { id, scope }: PlacedWrite): Promise<boolean> {
  if (scope === null) return false;
  return await operation.hold({ scopes: [scope], writes: false }, ({ history }) => hasApproved(history, id));
}
