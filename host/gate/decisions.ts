/**
 * What has become of writes that waited: the last decisions, in a record beside them, so that whoever decides second is
 * told. An approval is in it before its commit. Only the history says whether it was made, also if this record is lost.
 */
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import type { HostRecords } from "../store/host-records.ts";
import { parseJson } from "../store/parse-json.ts";
import { ToolError } from "../values/tool-error.ts";

/** No id of a waiting write, so no list of them has it. */
const name = "decided";

/** How many are kept. */
const decisionsMax = 200;

const schema = z.array(
  z.strictObject({
    id: z.string(),
    how: z.enum(["approved", "rejected", "undone", "replaced"]),
    atMs: z.int(),
    /** Of a replaced one: the id under which it waits. */
    by: z.nullable(z.string()),
  }),
);

export type Decision = Readonly<z.infer<typeof schema>[number]>;

/** The oldest first. None if the record cannot be read: then nobody is told more than that nothing waits. */
export async function decisionsIn(records: HostRecords): Promise<Decision[]> {
  try {
    const parsed = z.safeParse(schema, parseJson((await records.read("pending", name)) ?? "[]"));
    return parsed.success ? parsed.data : [];
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return [];
    throw error;
  }
}

export const decisionAbout = async (records: HostRecords, id: string): Promise<Decision | null> =>
  (await decisionsIn(records)).find((each) => each.id === id) ?? null;

/** Notes decisions, and forgets others about the same writes. */
export async function noteDecisions(records: HostRecords, noted: readonly Decision[]): Promise<void> {
  await replace(records, noted, new Set(noted.map(({ id }) => id)));
}

/** Forgets an approval that was not made. */
export async function forgetDecision(records: HostRecords, { id }: Decision): Promise<void> {
  await replace(records, [], new Set([id]));
}

async function replace(records: HostRecords, noted: readonly Decision[], gone: ReadonlySet<string>): Promise<void> {
  const kept = (await decisionsIn(records)).filter(({ id }) => !gone.has(id));
  await records.write("pending", name, JSON.stringify([...kept, ...noted].slice(-decisionsMax)));
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
