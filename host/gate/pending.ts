/**
 * The writes of a user that wait for the owner of the memory. Each is a record of the host's own, so no guest and no list of
 * files has it.
 */
import { hash } from "node:crypto";

import { pendingLimits } from "../../shared/limits.ts";
import * as z from "../../shared/zod.ts";
import type { HostRecords } from "../store/host-records.ts";
import { decodeBytes, digestOf, encodeBytes, storedBytesSchema } from "../store/reading.ts";
import { originClassSchema, sha256Schema } from "../store/versions/version.ts";
import type { WriteFacts } from "../store/versions/version.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { agreedTime, keptRecord } from "./kept-records.ts";

const { writesMax, writesPerRunMax, contentBytesMax, bytesMax, bytesPerRunMax, days } = pendingLimits;

export const pendingMs = days * 24 * 3_600_000;

const text = z.nullable(z.string());

/** As strict as a guest's request. */
const schema = z.strictObject({
  id: z.string(),
  atMs: z.int(),
  /** The time that the guest was given: run again with it, it writes the same. */
  epochMs: z.int(),
  tool: z.string(),
  plugin: z.string(),
  /** The call's input as JSON text. */
  input: z.string(),
  class: originClassSchema,
  trust: originClassSchema,
  run: text,
  turn: text,
  source: text,
  callId: z.string(),
  changes: z.array(
    z.strictObject({
      scope: z.string(),
      path: z.string(),
      /** SHA-256 of the content before; `null` if there was no file. */
      before: z.nullable(sha256Schema),
      /** Where a file is moved to; `null` if it is written. */
      trashed: text,
      /** The new content, as text if it is UTF-8, else in base64; `null` for a file that is moved. */
      content: z.nullable(storedBytesSchema),
    }),
  ),
});

/** What the record of a waiting write says. Times are in milliseconds since 1970-01-01 UTC. */
export type PendingWrite = Readonly<z.infer<typeof schema>>;
export type PendingChange = Readonly<PendingWrite["changes"][number]>;

/** The changes as they are shown, with what their files are now. */
export async function shownChanges(
  changes: readonly SizedChange[],
  bytesOf: (scope: string, path: string) => Promise<Uint8Array | null>,
): Promise<PendingChange[]> {
  const shown: PendingChange[] = [];
  for (const change of changes) {
    const { kind, scope, path } = change;
    const present = await bytesOf(scope, path);
    const before = digestOf(present && Buffer.from(present));
    const content = kind === "write" ? encodeBytes(Buffer.from(change.content)) : null;
    shown.push({ scope, path, before, trashed: kind === "trash" ? change.trashed : null, content });
  }
  return shown;
}

/** Stages that the write of a call waits. Returns the failure that its caller gets once it is durable: nothing else has changed. */
export async function stagePending(
  records: HostRecords,
  { action, input }: { readonly action: string; readonly input: string },
  facts: WriteFacts,
  changes: readonly PendingChange[],
): Promise<ToolError> {
  const { tool, plugin, class: of, trust, run, turn, source, callId, atMs } = facts;
  const named = { tool: tool ?? "", plugin: plugin ?? "", callId: callId ?? "" };
  const pending = { atMs, epochMs: atMs, ...named, input, class: of, trust, run, turn, source, changes: [...changes] };
  const { id } = await addPending(records, pending, { action });
  const message =
    `Saved as a suggestion (${id}), not yet as memory: the trust of its text is ${trust}, ` +
    `so the user has to approve it within ${days} days. Do not retry`;
  return new ToolError("WRITE_PENDING", message, {
    pending: { id, expires: new Date(atMs + pendingMs).toISOString() },
  });
}

/**
 * Stages that a write waits, and drops those that have surely waited too long. Throws `QUOTA_EXCEEDED` if it is too large, or
 * too many wait already. One that takes the place of another (`isReplacing`) can be larger: it is the owner who decides, and
 * who would be kept from it.
 */
export async function addPending(
  records: HostRecords,
  facts: Omit<PendingWrite, "id">,
  { action, isReplacing = false }: { readonly action: string; readonly isReplacing?: boolean },
): Promise<PendingWrite> {
  const written = facts.changes.reduce((sum, { content }) => sum + (content ? decodeBytes(content).length : 0), 0);
  if (written > contentBytesMax)
    throw full(action, `it has ${written} bytes, at most ${contentBytesMax} bytes allowed`);
  const write = { id: pendingIdOf(facts), ...facts };
  const record = JSON.stringify(write);
  const present = await sweep(records, facts.atMs);
  if (!isReplacing) await checkRoom(records, present, { action, run: facts.run, bytes: Buffer.byteLength(record) });
  await records.write("pending", write.id, record);
  return write;
}

/** Throws `QUOTA_EXCEEDED` if too many writes wait already, or too many bytes of them. */
async function checkRoom(
  records: HostRecords,
  present: readonly PendingName[],
  { action, run, bytes }: { readonly action: string; readonly run: string | null; readonly bytes: number },
): Promise<void> {
  const sizes = await records.sizes("pending");
  const ofRun = present.filter((each) => each.run === hashOfRun(run));
  for (const [names, whose, countMax, sumMax] of [
    [present, "", writesMax, bytesMax],
    [ofRun, " of this run", writesPerRunMax, bytesPerRunMax],
  ] as const) {
    // No host has written a record that is larger than all of them may be. It keeps nobody's write out.
    const all = names.map(({ id }) => sizes.get(id) ?? 0).filter((size) => size <= bytesMax);
    const sum = all.reduce((before, size) => before + size, bytes);
    const isMany = names.length >= countMax;
    if (!isMany && sum <= sumMax) continue;
    const what = isMany
      ? `${names.length} writes${whose} wait already, at most ${countMax} allowed`
      : `with it, the records of the writes${whose} that wait would have ${sum} bytes, at most ${sumMax} allowed`;
    throw full(action, `${what}; the owner can approve or reject some of them first`);
  }
}

const full = (action: string, what: string): ToolError =>
  new ToolError("QUOTA_EXCEEDED", `Cannot ${action}: it has to wait for the owner of the memory, and ${what}`);

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

/** `null` if there is none that a host has written under this id, or it has waited too long. */
export async function findPending(records: HostRecords, id: string, nowMs: number): Promise<PendingWrite | null> {
  const name = pendingName(id);
  if (name === null || isOver(name, nowMs)) return null;
  const write = await keptRecord(records, ["pending", id], schema);
  if (!write || write.id !== id) return null;
  const { id: _, ...facts } = write;
  return pendingIdOf(facts) === id ? write : null;
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

const namesOf = async (records: HostRecords): Promise<PendingName[]> =>
  (await records.names("pending")).flatMap((id) => pendingName(id) ?? []);

/** What an id says of its write. `run`: a hash of the run's id. */
interface PendingName {
  readonly id: string;
  readonly atMs: number;
  readonly run: string;
}

/**
 * `w-<time>-<run>-<digest>` has what is asked of all of them at once, so that they need not be read, and a digest of the
 * record, so that whoever approves an id approves what was shown under it, also if somebody changes the record on the disk
 * meanwhile. `facts`: the record without its id, in the order of its fields.
 */
export function pendingIdOf(facts: { readonly atMs: number; readonly run: string | null }): string {
  const time = Math.max(0, facts.atMs).toString(36).padStart(9, "0").slice(-9);
  return `w-${time}-${hashOfRun(facts.run)}-${hexOf(JSON.stringify(facts), 32)}`;
}

/** What a person types of an id: as much of its digest as nobody can find another record for. */
export const shortIdOf = (id: string): string | null => (pendingName(id) === null ? null : id.slice(-32, -16));

/** `null` if the text is no such id. */
function pendingName(id: string): PendingName | null {
  const [, time, run] = /^w-([0-9a-z]{9})-([0-9a-f]{12})-[0-9a-f]{32}$/.exec(id) ?? [];
  return time === undefined || run === undefined ? null : { id, atMs: Number.parseInt(time, 36), run };
}

/** Calls that name no run are one run. */
const hashOfRun = (run: string | null): string => hexOf(run === null ? "none" : `run ${run}`, 12);

const hexOf = (hashed: string, digits: number): string => hash("sha256", hashed).slice(0, digits);
