/** The writes of a user that wait. Each is a record of the host's own, so no guest and no list of files has it. */
import { pendingLimits } from "../../shared/limits.ts";
import type { HostRecords } from "../store/host-records.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { agreedTime } from "./agreed-time.ts";
import { decisionAbout, noteDecisions, notWaiting } from "./decisions.ts";
import { hashOfRun, pendingIdOf, pendingName } from "./pending-name.ts";
import type { PendingName } from "./pending-name.ts";
import { contentOf, decodePending, encodePending } from "./pending-write.ts";
import type { PendingFacts, PendingWrite } from "./pending-write.ts";

const { writesMax, writesPerRunMax, contentBytesMax, bytesMax, bytesPerRunMax, days } = pendingLimits;

export const pendingMs = days * 24 * 3_600_000;

/**
 * Makes a write wait, durably, and drops those that have surely waited too long, and the one that it replaces. Throws
 * `QUOTA_EXCEEDED` if it is too large, or too many wait already, and `ENTRY_NOT_FOUND` if the one that it replaces does
 * not wait any more: somebody has decided about it meanwhile.
 */
export async function addPending(
  records: HostRecords,
  facts: PendingFacts,
  { action, replaces = null }: { readonly action: string; readonly replaces?: string | null },
): Promise<PendingWrite> {
  const written = facts.changes.reduce((sum, change) => sum + (contentOf(change)?.length ?? 0), 0);
  if (written > contentBytesMax) throw full(action, `it has ${written} bytes`, `${contentBytesMax} bytes`, "");
  if (replaces !== null && (await findPending(records, replaces, facts.atMs)) === null) {
    throw notWaiting(action, replaces, await decisionAbout(records, replaces));
  }
  const write = { id: pendingIdOf(facts), ...facts };
  const record = encodePending(write);
  const present = await sweep(records, facts.atMs);
  // One that takes the place of another can be larger: it is the owner who decides, and who would be kept from it.
  if (replaces === null) await checkRoom(records, present, { action, write, bytes: Buffer.byteLength(record) });
  await records.write("pending", write.id, record);
  if (replaces !== null) {
    await records.remove("pending", replaces);
    await noteDecisions(records, [{ id: replaces, how: "replaced", atMs: facts.atMs, by: write.id }]);
  }
  return write;
}

/** Throws `QUOTA_EXCEEDED` if too many writes wait already, or too many bytes of them. */
async function checkRoom(
  records: HostRecords,
  present: readonly PendingName[],
  { action, write, bytes }: { readonly action: string; readonly write: PendingWrite; readonly bytes: number },
): Promise<void> {
  const ofRun = present.filter(({ run }) => run === hashOfRun(write.run));
  const sizes = await records.sizes("pending");
  const bytesOf = (id: string): number => {
    const size = sizes.get(id) ?? 0;
    // No host has written a record that is larger than all of them may be. It keeps nobody's write out.
    return size > bytesMax ? 0 : size;
  };
  const check = (names: readonly PendingName[], whose: string, [countMax, sumMax]: readonly [number, number]): void => {
    if (names.length >= countMax) {
      throw full(action, `${names.length} writes${whose} wait already`, `${countMax}`, decideFirst);
    }
    const sum = names.reduce((before, { id }) => before + bytesOf(id), bytes);
    if (sum <= sumMax) return;
    const summed = `with it, the records of the writes${whose} that wait would have ${sum} bytes`;
    throw full(action, summed, `${sumMax}`, decideFirst);
  };
  check(present, "", [writesMax, bytesMax]);
  check(ofRun, " of this run", [writesPerRunMax, bytesPerRunMax]);
}

const decideFirst = "; the owner can approve or reject some of them first";

/**
 * What is kept of those that wait, the oldest first. They are read one after another, because together they are large. A
 * record that no host has written is left out.
 */
export async function listPending<Kept>(
  records: HostRecords,
  nowMs: number,
  keep: (write: PendingWrite) => Kept | null,
): Promise<Kept[]> {
  const all: Kept[] = [];
  for (const { id } of await namesOf(records)) {
    await giveTurn();
    const write = await findPending(records, id, nowMs);
    const kept = write && keep(write);
    if (kept !== null) all.push(kept);
  }
  return all;
}

/** `null` if there is none, or it has waited too long. */
export async function findPending(records: HostRecords, id: string, nowMs: number): Promise<PendingWrite | null> {
  const name = pendingName(id);
  if (name === null || isOver(name, nowMs)) return null;
  try {
    return decodePending(id, await records.read("pending", id));
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

async function namesOf(records: HostRecords): Promise<PendingName[]> {
  return (await records.names("pending")).flatMap((id) => pendingName(id) ?? []);
}

/** Those that have waited too long are hidden, and removed once two readings of the clock agree that they have. */
async function sweep(records: HostRecords, nowMs: number): Promise<PendingName[]> {
  const names = await namesOf(records);
  const left = names.filter((name) => !isOver(name, nowMs));
  const agreedMs = await agreedTime(records, nowMs, { isAsked: left.length < names.length });
  for (const name of names) if (isOver(name, agreedMs)) await records.remove("pending", name.id);
  return left;
}

const isOver = ({ atMs }: PendingName, nowMs: number): boolean => atMs + pendingMs < nowMs;

function full(action: string, present: string, allowed: string, remedy: string): ToolError {
  const why = `it has to wait for the owner of the memory, and ${present}, at most ${allowed} allowed${remedy}`;
  return new ToolError("QUOTA_EXCEEDED", `Cannot ${action}: ${why}`);
}
