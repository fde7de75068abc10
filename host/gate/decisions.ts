/**
 * What has become of writes that waited for the owner of the memory. One waits as long as its record is there, and no version of
 * its files names it as its approval.
 */
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import type { HostRecords } from "../store/host-records.ts";
import type { HeldHistory } from "../store/versions/present-origins.ts";
import { ToolError } from "../values/tool-error.ts";
import { keptRecord } from "./kept-records.ts";
import { findPending, shortIdOf } from "./pending.ts";

/** How many decisions are kept. */
const decisionsMax = 200;

/** No id of a waiting write, so no list of them has it. */
const decided = ["pending", "decided"] as const;

const schema = z.array(
  z.strictObject({
    id: z.string(),
    how: z.enum(["approved", "rejected", "undone", "replaced"]),
    atMs: z.int(),
    /** Of a replaced one: the id under which it waits. */
    by: z.nullable(z.string()),
  }),
);

/**
 * So that whoever decides second is told. An approval can be noted without being made: if its write has a record still, only the
 * history of its files says whether it was.
 */
export type Decision = Readonly<z.infer<typeof schema>[number]>;

/** By the ids of their writes. */
export type Approvals = ReadonlyMap<string, Decision>;

/** The approvals that have changed the files of some homes. */
export async function approvalsIn(histories: readonly HeldHistory[]): Promise<Approvals> {
  const made = new Map<string, Decision>();
  for (const history of histories) {
    for (const { approval, atMs } of await history.versions()) {
      if (approval !== undefined) made.set(approval, { id: approval, how: "approved", atMs, by: null });
    }
  }
  return made;
}

/** The oldest first. None if the record cannot be read: then nobody is told more than that nothing waits. */
export const decisionsIn = async (records: HostRecords): Promise<Decision[]> =>
  (await keptRecord(records, decided, schema)) ?? [];

/** `null` if none is known. */
export const decisionAbout = async (records: HostRecords, id: string): Promise<Decision | null> =>
  (await decisionsIn(records)).find((each) => each.id === id) ?? null;

/** The whole id of a write that waits or was decided about, of which a person has typed the short one. */
export async function wholeIdOf(records: HostRecords, typed: string): Promise<string> {
  if (!/^[0-9a-f]{16}$/.test(typed)) return typed;
  const ids = [...(await records.names("pending")), ...(await decisionsIn(records)).map(({ id }) => id)];
  return ids.find((id) => shortIdOf(id) === typed) ?? typed;
}

/** Stages that decisions are noted. Others about the same writes are forgotten. */
export async function noteDecisions(records: HostRecords, noted: readonly Decision[]): Promise<void> {
  const others = (await decisionsIn(records)).filter(({ id }) => !noted.some((each) => each.id === id));
  await records.write(...decided, JSON.stringify([...others, ...noted].slice(-decisionsMax)));
}

/** What has become of a write by a time: `undefined` if it waits, `null` if nobody knows. `approvals`: those of its files. */
export async function becameOf(
  records: HostRecords,
  approvals: Approvals,
  { id, atMs }: Pick<Decision, "id" | "atMs">,
): Promise<Decision | null | undefined> {
  const made = approvals.get(id);
  if (made !== undefined) return made;
  return (await findPending(records, id, atMs)) === null ? await decisionAbout(records, id) : undefined;
}

/** Stages that a write is approved, before the commit that applies it. Throws `ENTRY_NOT_FOUND` if it waits no more. */
export async function noteApproval(
  records: HostRecords,
  history: HeldHistory,
  { action, id, atMs }: Pick<Decision, "id" | "atMs"> & { readonly action: string },
): Promise<void> {
  const decision = await becameOf(records, await approvalsIn([history]), { id, atMs });
  if (decision !== undefined) throw notWaiting(action, id, decision);
  await noteDecisions(records, [{ id, how: "approved", atMs, by: null }]);
}

/** The failure of whoever decides about a write that does not wait. */
export function notWaiting(action: string, id: string, decision: Decision | null): ToolError {
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
