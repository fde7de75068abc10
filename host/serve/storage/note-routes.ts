/** `/api/storage/memory-scoped`: an agent's notes about its callers, and their exchange between its machines. */
import * as z from "../../../shared/zod.ts";
import type { ToolResult } from "../../values/tool-result.ts";
import { checked, optionalText } from "./fields.ts";
import { noteIdFor } from "./note-id.ts";
import type { NotePlace } from "./note-id.ts";
import { parcels } from "./parcels.ts";
import { shownNote, shownNotes } from "./shown-note.ts";
import type { StoredNote } from "./shown-note.ts";
import { answerFor, done, entriesFor, failureAnswer } from "./storage-answer.ts";
import type { StorageAnswer } from "./storage-answer.ts";
import { checkAgent } from "./storage-caller.ts";
import type { StorageCaller } from "./storage-caller.ts";
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
  switch (query["action"]) {
    case "get":
      return await getNote(caller, query);
    case "list":
      return await listNotes(caller, query);
    case "search":
      return await searchNotes(caller, query);
    case "sync":
      return await pullNotes(caller, query);
    default:
      throw unfit("The field action is missing or wrong");
  }
}

async function getNote(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace, key, ...asked } = checked(getFields, query);
  const agent = agentIn(caller, asked);
  const result = await call(caller, { command: "get", namespace: namespace[0], key });
  return entriesFor(result, (data) => {
    const { note } = data as { note: StoredNote | null };
    return { entry: note && shownNote(note, agent) };
  });
}

async function listNotes(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace: namespaces, prefix, limit, excludeSource: excludeSources, ...asked } = checked(listFields, query);
  const agent = agentIn(caller, asked);
  const input = { command: "list", namespaces, ...(prefix && { prefix }), excludeSources, ...limitIn(limit, 1_000) };
  return entriesFor(await call(caller, input), (data) => shownNotes(data, agent));
}

async function searchNotes(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { namespace: namespaces, q, limit, ...asked } = checked(searchFields, query);
  const agent = agentIn(caller, asked);
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
  const { namespace, since, ...asked } = checked(pullFields, query);
  const agent = agentIn(caller, asked);
  const result = await call(caller, { command: "pull", namespace: namespace[0], ...(since && { since }) });
  return entriesFor(result, (data) => {
    const { lines, ...page } = data as { lines: readonly NotePlace[] };
    return { lines: lines.map((line) => Object.assign({ id: noteIdFor(agent, line) }, line)), ...page };
  });
}

/** `PUT`: creates a note, or replaces it. */
export async function putNote(caller: StorageCaller, query: unknown, body: unknown): Promise<StorageAnswer> {
  agentIn(caller, checked(putQuery, query));
  const { source, at, description, agentId: inBody, ...note } = checked(putFields, body);
  const agent = agentIn(caller, { agentId: inBody });
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
  const { namespace, key, ...asked } = checked(forgetFields, query);
  agentIn(caller, asked);
  return answerFor(await call(caller, { command: "forget", namespace: namespace[0], key }), (data) => data);
}

/** `POST ?action=sync`: the changes of another machine. */
export async function pushNotes(caller: StorageCaller, query: unknown, body: unknown): Promise<StorageAnswer> {
  agentIn(caller, checked(pushQuery, query));
  const { namespace, lines, agentId: inBody } = checked(pushFields, body);
  agentIn(caller, { agentId: inBody });
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

/** The agent's id as the client uses it in the ids of notes. */
function agentIn(caller: StorageCaller, { agentId: asked }: { agentId?: string | null | undefined }): string {
  checkAgent(caller, asked);
  return asked || caller.ctx.userId;
}
