/** `/api/storage/memory-scoped`: an agent's notes about its callers, and their exchange between its machines. */
import { createHash } from "node:crypto";

import * as z from "../../../shared/zod.ts";
import { uuidOf } from "../../values/ids.ts";
import type { ToolResult } from "../../values/tool-result.ts";
import { checked, optionalText } from "./fields.ts";
import { answerFor, done, entriesFor, failureAnswer } from "./storage-answer.ts";
import type { StorageAnswer } from "./storage-answer.ts";
import { checkAgent } from "./storage-caller.ts";
import type { AgentFields, StorageCaller } from "./storage-caller.ts";
import { unfit } from "./storage-refusal.ts";

/** The fields of a query that are repeated, once for each value. */
export const noteListFields: readonly string[] = ["namespace", "excludeSource"];

const agentId = optionalText;
const texts = z.optional(z.array(z.string()));
/** Of the fields that can be repeated, a request for one namespace has one. */
const oneNamespace = z.array(z.string()).check(z.minLength(1), z.maxLength(1));
const place = { namespace: oneNamespace, key: z.string() };

const getFields = z.strictObject({ agentId, action: z.literal("get"), ...place });
const listFields = z.strictObject({
  agentId,
  action: z.literal("list"),
  namespace: texts,
  prefix: optionalText,
  limit: optionalText,
  excludeSource: texts,
});
const searchFields = z.strictObject({
  agentId,
  action: z.literal("search"),
  q: z.string(),
  namespace: texts,
  limit: optionalText,
});
const pullFields = z.strictObject({ agentId, action: z.literal("sync"), namespace: oneNamespace, since: optionalText });
const forgetFields = z.strictObject({ agentId, ...place });
const putQuery = z.strictObject({ agentId });
const putFields = z.strictObject({
  agentId,
  namespace: z.string(),
  key: z.string(),
  content: z.string(),
  source: optionalText,
  at: optionalText,
  description: optionalText,
});
const pushQuery = z.strictObject({ agentId, action: z.literal("sync") });
const pushFields = z.strictObject({ agentId, namespace: z.string(), lines: z.array(z.unknown()) });

/** `GET`: by the query's `action`. */
export async function readNotes(caller: StorageCaller, query: Record<string, unknown>): Promise<StorageAnswer> {
  const { action } = query;
  const read = typeof action === "string" ? reads.get(action) : undefined;
  if (read === undefined) throw unfit("The field action is missing or wrong");
  return await read(caller, query);
}

async function getNote(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace, key, agent } = fieldsOf(caller, getFields, query);
  const result = await call(caller, { command: "get", namespace: namespace[0], key });
  return entriesFor(result, (data) => {
    const { note } = data as { note: StoredNote | null };
    return { entry: note && shownNote(note, agent) };
  });
}

async function listNotes(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const {
    namespace: namespaces,
    prefix,
    limit,
    excludeSource: excludeSources,
    agent,
  } = fieldsOf(caller, listFields, query);
  const input = { command: "list", namespaces, ...(prefix && { prefix }), excludeSources, ...limitIn(limit, 1_000) };
  return entriesFor(await call(caller, input), (data) => shownNotes(data, agent));
}

async function searchNotes(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace: namespaces, q, limit, agent } = fieldsOf(caller, searchFields, query);
  const result = await call(caller, { command: "search", query: q, namespaces, ...limitIn(limit, 50) });
  return entriesFor(result, (data) => shownNotes(data, agent));
}

/** Clients ask for more than there can be when they want all. */
function limitIn(limit: string | null | undefined, most: number): { limit?: number } {
  if (!limit) return {};
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw unfit("The field limit is missing or wrong");
  return { limit: Math.min(most, Number(limit)) };
}

async function pullNotes(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace, since, agent } = fieldsOf(caller, pullFields, query);
  const result = await call(caller, { command: "pull", namespace: namespace[0], ...(since && { since }) });
  return entriesFor(result, (data) => {
    const { lines, ...page } = data as { lines: readonly NotePlace[] };
    return { lines: lines.map((line) => Object.assign({ id: noteIdFor(agent, line) }, line)), ...page };
  });
}

const reads = new Map([
  ["get", getNote],
  ["list", listNotes],
  ["search", searchNotes],
  ["sync", pullNotes],
]);

/** `PUT`: creates a note, or replaces it. */
export async function putNote(caller: StorageCaller, query: unknown, body: unknown): Promise<StorageAnswer> {
  fieldsOf(caller, putQuery, query);
  const { source, at, description, agent, ...note } = fieldsOf(caller, putFields, body);
  const input = {
    command: "put",
    ...note,
    ...(source && { source }),
    ...(at && { at }),
    ...(description && { description }),
  };
  return answerFor(await call(caller, input), (data) => ({
    entry: shownNote((data as { note: StoredNote }).note, agent),
  }));
}

/** `DELETE`. */
export async function forgetNote(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace, key } = fieldsOf(caller, forgetFields, query);
  return answerFor(await call(caller, { command: "forget", namespace: namespace[0], key }), (data) => data);
}

/** `POST ?action=sync`: the changes of another machine. */
export async function pushNotes(caller: StorageCaller, query: unknown, body: unknown): Promise<StorageAnswer> {
  fieldsOf(caller, pushQuery, query);
  const { namespace, lines } = fieldsOf(caller, pushFields, body);
  let applied = 0;
  const refused: RefusedLine[] = [];
  for (const { from, some } of parcels(lines)) {
    const result = await call(caller, { command: "push", namespace, lines: some });
    if (!result.ok) return failureAnswer(result.error);
    const part = result.data as { applied: number; refused: RefusedLine[] };
    applied += part.applied;
    refused.push(...part.refused.map(({ at, reason }) => ({ at: from + at, reason })));
  }
  return done({ applied, refused });
}

interface RefusedLine {
  readonly at: number;
  readonly reason: string;
}

const call = (caller: StorageCaller, input: object): Promise<ToolResult> =>
  caller.runtime.callAsHost("stores/CallerNotes", input, caller.ctx);

/** Checks fields, and returns them with the agent's id as the client uses it in the ids of notes. */
function fieldsOf<Fields extends Pick<AgentFields, "agentId">>(
  caller: StorageCaller,
  schema: z.ZodMiniType<Fields>,
  given: unknown,
): Omit<Fields, "agentId"> & { readonly agent: string } {
  const { agentId: asked, ...fields } = checked(schema, given);
  checkAgent(caller, asked);
  return { ...fields, agent: asked || caller.ctx.userId };
}

/** The input of a call has at most 512 KiB. The largest note takes 100 KiB, and as JSON at most six times as much. */
const bytesMax = 400 * 1024;
const linesMax = 100;

interface Parcel {
  /** Where the part begins in the list. */
  readonly from: number;
  readonly some: readonly unknown[];
}

/**
 * Splits a long list into parts that each fit into the input of a call. A line that is too large for any call is sent as
 * `null`, which is refused where it stands.
 */
function parcels(lines: readonly unknown[]): Parcel[] {
  const parts: { from: number; some: unknown[] }[] = [];
  let bytes = 0;
  for (const [at, line] of lines.entries()) {
    const size = Buffer.byteLength(JSON.stringify(line));
    const each = size > bytesMax ? null : line;
    const last = parts.at(-1);
    bytes += size;
    if (last === undefined || bytes > bytesMax || last.some.length >= linesMax) {
      parts.push({ from: at, some: [each] });
      bytes = size;
    } else {
      last.some.push(each);
    }
  }
  return parts;
}

/** Where a note lies in an agent's memory. */
interface NotePlace {
  readonly namespace: string;
  readonly key: string;
}

/** A note as the plugin returns it. */
interface StoredNote extends NotePlace {
  readonly created: string;
  readonly updated: string;
}

/** A note as its clients name it. It has the same id in every tier of them. */
function shownNote({ created, updated, ...note }: StoredNote, agent: string): object {
  return { id: noteIdFor(agent, note), ...note, created_at: created, updated_at: updated };
}

function shownNotes(data: unknown, agent: string): object {
  return { entries: (data as { notes: readonly StoredNote[] }).notes.map((note) => shownNote(note, agent)) };
}

/** The namespace of UUIDs made from URLs, RFC 9562 section 6.6. */
const urlNamespace = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

/** A UUID of version 5. `agent` is the id that the client uses for itself. */
function noteIdFor(agent: string, { namespace, key }: NotePlace): string {
  const name = `${agent}\n${namespace}\n${key}`;
  return uuidOf(createHash("sha1").update(urlNamespace).update(name, "utf8").digest(), "5");
}
