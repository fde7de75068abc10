/** The writes of a user that wait. Each is a record of the host's own, so no guest and no list of files has it. */
import { pendingLimits } from "../../shared/limits.ts";
import type { HeldRecords } from "../store/held-records.ts";
import { ToolError } from "../values/tool-error.ts";
import { decisionAbout, noteDecisions, notWaiting } from "./decisions.ts";
import { hashOfRun, pendingIdOf, pendingName } from "./pending-name.ts";
import type { PendingName } from "./pending-name.ts";
import { contentOf, decodePending, encodePending } from "./pending-write.ts";
import type { PendingFacts, PendingWrite } from "./pending-write.ts";

const { writesMax, writesPerRunMax, contentBytesMax, days } = pendingLimits;

export const pendingMs = days * 24 * 3_600_000;

/**
 * Makes a write wait, durably, and drops those that have waited too long, and the one that it replaces. Throws
 * `QUOTA_EXCEEDED` if it is too large, or too many wait already, and `ENTRY_NOT_FOUND` if the one that it replaces does
 * not wait any more: somebody has decided about it meanwhile.
 */
export async function addPending(
  records: HeldRecords,
  facts: PendingFacts,
  { action, replaces = null }: { readonly action: string; readonly replaces?: string | null },
): Promise<PendingWrite> {
  const bytes = facts.changes.reduce((sum, change) => sum + (contentOf(change)?.length ?? 0), 0);
  if (bytes > contentBytesMax) throw full(action, `${bytes} bytes`, `${contentBytesMax} bytes`);
  if (replaces !== null && (await findPending(records, replaces, facts.atMs)) === null) {
    throw notWaiting(action, replaces, await decisionAbout(records, replaces));
  }
  const present = (await sweep(records, facts.atMs)).filter(({ id }) => id !== replaces);
  if (present.length >= writesMax) throw full(action, `${present.length} writes wait already`, `${writesMax}`);
  const ofRun = present.filter(({ run }) => run === hashOfRun(facts.run)).length;
  if (ofRun >= writesPerRunMax) throw full(action, `${ofRun} of this run wait already`, `${writesPerRunMax}`);
  const write = { id: pendingIdOf(facts), ...facts };
  await records.write("pending", write.id, encodePending(write));
  if (replaces !== null) {
    await records.remove("pending", replaces);
    await noteDecisions(records, [{ id: replaces, how: "replaced", atMs: facts.atMs, by: write.id }]);
  }
  return write;
}

/** Those that wait, the oldest first. A record that no host has written is left out. */
export async function listPending(records: HeldRecords, nowMs: number): Promise<PendingWrite[]> {
  const writes: PendingWrite[] = [];
  for (const { id } of await namesOf(records)) {
    const write = await findPending(records, id, nowMs);
    if (write !== null) writes.push(write);
  }
  return writes;
}

/** `null` if there is none, or it has waited too long. */
export async function findPending(records: HeldRecords, id: string, nowMs: number): Promise<PendingWrite | null> {
  const name = pendingName(id);
  if (name === null || isOver(name, nowMs)) return null;
  try {
    return decodePending(id, await records.read("pending", id));
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

async function namesOf(records: HeldRecords): Promise<PendingName[]> {
  return (await records.names("pending")).flatMap((id) => pendingName(id) ?? []);
}

async function sweep(records: HeldRecords, nowMs: number): Promise<PendingName[]> {
  const names = await namesOf(records);
  const left = names.filter((name) => !isOver(name, nowMs));
  for (const name of names) if (!left.includes(name)) await records.remove("pending", name.id);
  return left;
}

const isOver = ({ atMs }: PendingName, nowMs: number): boolean => atMs + pendingMs < nowMs;

function full(action: string, present: string, allowed: string): ToolError {
  const why = `it has to wait for the owner of the memory, and ${present}, at most ${allowed} allowed`;
  return new ToolError("QUOTA_EXCEEDED", `Cannot ${action}: ${why}`);
}
