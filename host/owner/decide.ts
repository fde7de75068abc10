/** Decides about writes that wait, each once: what a killed process has begun to approve is ended first. */
import { ownStoreName } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { keptRecord } from "../gate/kept-records.ts";
import { findPending, listPending } from "../gate/pending.ts";
import type { PendingChange, PendingWrite } from "../gate/pending.ts";
import type { HostRecords } from "../store/host-records.ts";
import type { HeldHistory } from "../store/versions/present-origins.ts";
import { storeOfScope } from "../values/ids.ts";
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
  const remove = async (): Promise<void> => {
    for (const { id } of writes) await records.remove("pending", id);
  };
  await remove();
  try {
    await noteDecisions(
      records,
      writes.map(({ id }) => ({ id, how, atMs, by: null })),
    );
    await records.commit();
  } catch (error) {
    passOverFailure(error);
    // The note only tells others. A full disk keeps nobody from rejecting.
    records.drop();
    await remove();
    await records.commit();
  }
}

/**
 * Stages that another write has taken the place of one. Throws `ENTRY_NOT_FOUND` if that does not wait any more: somebody has
 * decided about it meanwhile.
 */
export async function replaceWaiting(
  { action }: Operation,
  records: HostRecords,
  { id, by, atMs }: { readonly id: string; readonly by: string; readonly atMs: number },
): Promise<void> {
  if ((await findPending(records, id, atMs)) === null) {
    throw notWaiting(action, id, await decisionAbout(records, id));
  }
  await records.remove("pending", id);
  await noteDecisions(records, [{ id, how: "replaced", atMs, by }]);
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
      if (present?.atMs === atMs) await noteDecisions(records, [], present);
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

/** How many decisions are kept. */
const decisionsMax = 200;

/** No id of a waiting write, so no list of them has it. */
const decided = ["pending", "decided"] as const;

const decisionsSchema = z.array(
  z.strictObject({
    id: z.string(),
    how: z.enum(["approved", "rejected", "undone", "replaced"]),
    atMs: z.int(),
    /** Of a replaced one: the id under which it waits. */
    by: z.nullable(z.string()),
  }),
);

/**
 * What has become of a write that waited, so that whoever decides second is told. An approval is noted before its commit; only
 * the history says whether it was made, also if this record is lost.
 */
type Decision = Readonly<z.infer<typeof decisionsSchema>[number]>;

/** The oldest first. None if the record cannot be read: then nobody is told more than that nothing waits. */
const decisionsIn = async (records: HostRecords): Promise<Decision[]> =>
  (await keptRecord(records, decided, decisionsSchema)) ?? [];

const decisionAbout = async (records: HostRecords, id: string): Promise<Decision | null> =>
  (await decisionsIn(records)).find((each) => each.id === id) ?? null;

/** Notes decisions, and forgets others about the same writes, and one that was not made. */
async function noteDecisions(
  records: HostRecords,
  noted: readonly Decision[],
  forgotten: Decision | null = null,
): Promise<void> {
  const gone = new Set([...noted, ...(forgotten ? [forgotten] : [])].map(({ id }) => id));
  const kept = (await decisionsIn(records)).filter(({ id }) => !gone.has(id));
  await records.write(...decided, JSON.stringify([...kept, ...noted].slice(-decisionsMax)));
}

/** The failure of whoever decides about a write that does not wait. */
function notWaiting(action: string, id: string, decision: Decision | null): ToolError {
  return new ToolError("ENTRY_NOT_FOUND", `Cannot ${action}: ${clauseOf(id, decision)}`);
}

function clauseOf(id: string, decision: Decision | null): string {
  if (decision === null) return `no write waits as ${quoted(id)}`;
  const { how, atMs, by } = decision;
  const at = new Date(atMs).toISOString();
  if (how === "undone") return `${quoted(id)} was rejected by an undo at ${at}`;
  if (how === "replaced")
    return `${quoted(id)} waits as ${quoted(by ?? "")} since ${at}, because its files had changed`;
  return `${quoted(id)} was ${how} at ${at}`;
}

/** A change's scope, as the owner knows it: the own store is `store`. */
export const scopeOf = ({ scope }: PendingChange): string => (storeOfScope(scope) === null ? scope : ownStoreName);

/** The approval of a write that waits, as a decision of the commit that applies it. */
export class ApprovedWrite {
  readonly #id: string;
  readonly #action: string;
  readonly #clock: () => number;
  /** Whether a commit has asked for it. */
  hasBegun = false;

  constructor({ id, action, clock }: { readonly id: string; readonly action: string; readonly clock: () => number }) {
    [this.#id, this.#action, this.#clock] = [id, action, clock];
  }

  /**
   * Before the commit, which is not made if it throws. `history`: that of the files. Throws `ENTRY_NOT_FOUND` if the write
   * does not wait any more.
   */
  async begin(records: HostRecords, history: HeldHistory): Promise<void> {
    const [id, atMs] = [this.#id, this.#clock()];
    if ((await findPending(records, id, atMs)) === null) {
      throw notWaiting(this.#action, id, await decisionAbout(records, id));
    }
    const made = (await approvalsIn(history)).get(id);
    if (made !== undefined) {
      await records.remove("pending", id);
      await records.commit();
      throw notWaiting(this.#action, id, made);
    }
    await noteDecisions(records, [{ id, how: "approved", atMs, by: null }]);
    this.hasBegun = true;
  }

  /** After the commit, or in it. A process that is killed in between leaves what `begin` has written. */
  async end(records: HostRecords): Promise<void> {
    await records.remove("pending", this.#id);
  }
}

/** The approvals that have changed these files, by the ids of their writes. */
async function approvalsIn(history: HeldHistory): Promise<ReadonlyMap<string, Decision>> {
  const made = new Map<string, Decision>();
  for (const { approval, atMs } of await history.versions()) {
    if (approval !== undefined) made.set(approval, { id: approval, how: "approved", atMs, by: null });
  }
  return made;
}

/** Those that are noted, and whose writes still wait: only the history knows whether they were made. */
async function begunApprovals(records: HostRecords): Promise<Decision[]> {
  const noted = await decisionsIn(records);
  if (noted.length === 0) return [];
  const waiting = new Set(await records.names("pending"));
  return noted.filter(({ id, how }) => how === "approved" && waiting.has(id));
}
