/** Decides about writes that wait, each once: what a killed process has begun to approve is ended first. */
import { approvalsIn, begunApprovals } from "../gate/approval.ts";
import { decisionAbout, forgetDecision, noteDecisions, notWaiting } from "../gate/decisions.ts";
import type { Decision } from "../gate/decisions.ts";
import { scopeOf } from "../gate/pending-write.ts";
import type { PendingWrite } from "../gate/pending-write.ts";
import { findPending, listPending } from "../gate/pending-writes.ts";
import type { HostRecords } from "../store/host-records.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";

/** How often others can be killed while they approve, before this gives up. */
const attemptsMax = 5;

/** A write that waits, and a scope in whose history its approval is, if it was made. */
interface PlacedWrite {
  readonly id: string;
  /** `null` if it has no changes. */
  readonly scope: string | null;
}

const placeOf = ({ id, changes: [first] }: PendingWrite): PlacedWrite => ({ id, scope: first ? scopeOf(first) : null });

/** The writes that something is decided about. No other one keeps it from that. */
type Concerned = (records: HostRecords) => Promise<readonly PlacedWrite[]>;

/** Does work that decides about the writes that `keep` keeps, while nobody else does. */
export async function decide<Result>(
  operation: Operation,
  keep: (write: PendingWrite) => unknown,
  work: (records: HostRecords) => Promise<Result>,
): Promise<Result> {
  const concerned: Concerned = (records) =>
    listPending(records, operation.now(), (write) => (keep(write) === null ? null : placeOf(write)));
  return await decideAbout(operation, concerned, work);
}

async function decideAbout<Result>(
  operation: Operation,
  concerned: Concerned,
  work: (records: HostRecords) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    await endBegun(operation, concerned);
    const done = await operation.holdRecords("write", async (records) => {
      const begun = await begunApprovals(records);
      const isBegun = begun.length > 0 && amongThem(begun, await concerned(records)).length > 0;
      return isBegun ? null : { result: await work(records) };
    });
    if (done !== null) return done.result;
  }
  throw new ToolError("BUSY", `Cannot ${operation.action}: others decide about the user's writes all the time`);
}

const amongThem = (begun: readonly Decision[], writes: readonly PlacedWrite[]): Decision[] =>
  begun.filter(({ id }) => writes.some((write) => write.id === id));

/** What is kept of those that wait, the oldest first. Ends what was begun, if anything can be written. */
export async function waitingWrites<Kept>(
  operation: Operation,
  keep: (write: PendingWrite) => Kept | null,
): Promise<Kept[]> {
  const listed = await operation.holdRecords("read", (records) =>
    listPending(records, operation.now(), (write) => {
      const kept = keep(write);
      return kept && { ...placeOf(write), kept };
    }),
  );
  const applied = await appliedAmong(operation, listed, () => true);
  if (applied.size > 0) await endBegun(operation, async () => listed).catch(passOverFailure);
  return listed.flatMap(({ id, kept }) => (applied.has(id) ? [] : [kept]));
}

/** One that waits. Throws `ENTRY_NOT_FOUND`, with what has become of it. */
export async function waitingOne(operation: Operation, id: string): Promise<PendingWrite> {
  const { write, decision } = await operation.holdRecords("read", async (records) => ({
    write: await findPending(records, id, operation.now()),
    decision: await decisionAbout(records, id),
  }));
  const made = write && (await appliedAmong(operation, [placeOf(write)], () => false)).get(id);
  if (write !== null && !made) return write;
  throw notWaiting(operation.action, id, made ?? decision);
}

/** Ends the waiting of one, without a change of files. Throws `ENTRY_NOT_FOUND`, with what has become of it. */
export async function endOne(operation: Operation, id: string, how: Decision["how"]): Promise<PendingWrite> {
  const concerned: Concerned = async (records) => {
    const write = await findPending(records, id, operation.now());
    return write === null ? [] : [placeOf(write)];
  };
  return await decideAbout(operation, concerned, async (records) => {
    const atMs = operation.now();
    const write = await findPending(records, id, atMs);
    if (write === null) throw notWaiting(operation.action, id, await decisionAbout(records, id));
    await endWaiting(records, [write], { how, atMs });
    return write;
  });
}

/** Ends the waiting of writes, for good. */
export async function endWaiting(
  records: HostRecords,
  writes: readonly Pick<PendingWrite, "id">[],
  { how, atMs }: Pick<Decision, "how" | "atMs">,
): Promise<void> {
  for (const { id } of writes) await records.remove("pending", id);
  await records.commit();
  // It only tells others. A full disk keeps nobody from rejecting.
  try {
    const noted = writes.map(({ id }): Decision => ({ id, how, atMs, by: null }));
    await noteDecisions(records, noted);
    await records.commit();
  } catch (error) {
    records.drop();
    passOverFailure(error);
  }
}

async function endBegun(operation: Operation, concerned: Concerned): Promise<void> {
  const { writes, begun } = await operation.holdRecords("read", async (records) => {
    const found = await concerned(records);
    return { writes: found, begun: amongThem(await begunApprovals(records), found) };
  });
  const applied = await appliedAmong(operation, writes, ({ id }) => !begun.some((each) => each.id === id));
  if (applied.size + begun.length === 0) return;
  await operation.holdRecords("write", async (records) => {
    for (const id of applied.keys()) await records.remove("pending", id);
    // First, because that needs no room.
    await records.commit();
    for (const [id, made] of applied) {
      if ((await decisionAbout(records, id)) === null) await noteDecisions(records, [made]);
    }
    for (const { id, atMs } of begun.filter((each) => !applied.has(each.id))) {
      const present = await decisionAbout(records, id);
      if (present?.atMs === atMs) await forgetDecision(records, present);
    }
  });
}

/**
 * Those that an approval has applied, by the history of their files. `canPassOver`: whether it does not matter for one of
 * them that its place cannot be read, such as a mounted folder that is gone.
 */
async function appliedAmong(
  operation: Operation,
  writes: readonly PlacedWrite[],
  canPassOver: (write: PlacedWrite) => boolean,
): Promise<ReadonlyMap<string, Decision>> {
  const applied = new Map<string, Decision>();
  for (const scope of new Set(writes.flatMap((write) => write.scope ?? []))) {
    const here = writes.filter((write) => write.scope === scope);
    const made = await operation
      .hold({ scopes: [scope], mode: "read" }, ({ history }) => approvalsIn(history))
      .catch((error: unknown) => {
        const isUnread = error instanceof ToolError && error.code.startsWith("STORAGE_");
        if (!isUnread || !here.every(canPassOver)) throw error;
      });
    for (const { id } of here) {
      const approval = made?.get(id);
      if (approval !== undefined) applied.set(id, approval);
    }
  }
  return applied;
}

function passOverFailure(error: unknown): void {
  if (!(error instanceof ToolError)) throw error;
}
