/**
 * `/api/storage/memory`: what a store holds, a search, the stores that the caller reaches, and grants. Behind it,
 * `/<key>`: one entry of a store.
 */
import { accessLevels } from "../../../shared/shared-scope.ts";
import * as z from "../../../shared/zod.ts";
import { storeOfName } from "../../values/ids.ts";
import { agentFields, checked, hintFields, optionalText, decodedPart } from "./fields.ts";
import { answerFor, entriesFor, shownEntry, done, failureAnswer, withOrigins } from "./storage-answer.ts";
import type { EntryData, StorageAnswer } from "./storage-answer.ts";
import { callMemory, checkAgent, pathIn, storeIn } from "./storage-caller.ts";
import type { StorageCaller } from "./storage-caller.ts";
import { StorageRefusal, unfit } from "./storage-refusal.ts";

const listFields = z.strictObject({
  ...agentFields,
  ...hintFields,
  inContext: z.optional(z.literal("true")),
  prefix: optionalText,
});
const searchFields = z.strictObject({ ...agentFields, ...hintFields, action: z.literal("search"), q: z.string() });
const storesFields = z.strictObject({ ...agentFields, ...hintFields, action: z.literal("stores") });
const actionFields = z.strictObject({ action: z.literal("share") });
const grantFields = { ...agentFields, ...hintFields, grantee: z.string() };
const shareFields = z.strictObject({ ...grantFields, level: z.optional(z.nullable(z.enum(accessLevels))) });
const unshareFields = z.strictObject({ ...grantFields, action: z.literal("share") });

/** `GET`: by the query's `action`. */
export async function readStores(caller: StorageCaller, query: Record<string, unknown>): Promise<StorageAnswer> {
  if (query["action"] === "search") return await search(caller, query);
  if (query["action"] === "stores") {
    checkAgent(caller, checked(storesFields, query).agentId);
    return answerFor(await callMemory(caller, { command: "stores" }), (data) => data);
  }
  return await list(caller, query);
}

async function list(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { prefix: asked, ...fields } = checked(listFields, query);
  const prefix = asked ?? "";
  // The tool lists folders. A prefix can end within a name.
  const folder = pathIn(storeIn(caller, fields)) + prefix.slice(0, prefix.lastIndexOf("/") + 1);
  return entriesFor(await callMemory(caller, { command: "view", path: folder }), (data) => {
    const { entries } = data as { entries: readonly EntryData[] };
    return { entries: entries.filter(({ key }) => key.startsWith(prefix)).map(shownEntry) };
  });
}

/** Without a store, over every store that the caller reaches. */
async function search(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { q, ...fields } = checked(searchFields, query);
  const store = storeIn(caller, fields);
  const path = fields.store ? { path: pathIn(store) } : {};
  return entriesFor(await callMemory(caller, { command: "search", query: q, ...path }), (data) => {
    const { results } = data as { results: readonly EntryData[] };
    return { entries: results.map(shownEntry) };
  });
}

/** `POST ?action=share`: grants access, or replaces a grant. */
export async function share(caller: StorageCaller, query: unknown, body: unknown): Promise<StorageAnswer> {
  checked(actionFields, query);
  const { grantee, level, ...fields } = checked(shareFields, body);
  const agent = granteeIn(grantee);
  const path = pathIn(storeIn(caller, fields));
  checkSharing(caller);
  return answerFor(await callMemory(caller, { command: "share", path, agent, ...(level && { level }) }), () => ({
    ok: true,
  }));
}

/** `DELETE ?action=share`: revokes a grant. */
export async function unshare(caller: StorageCaller, query: unknown): Promise<StorageAnswer> {
  const { grantee, ...fields } = checked(unshareFields, query);
  const agent = granteeIn(grantee);
  const path = pathIn(storeIn(caller, fields));
  checkSharing(caller);
  return answerFor(await callMemory(caller, { command: "unshare", path, agent }), () => ({ ok: true }));
}

/** These clients offer sharing to their models, so it needs what sharing by models needs. */
function checkSharing({ runtime }: StorageCaller): void {
  if (runtime.tools().some(({ name, rights }) => name === "memory" && rights.includes("grant_set"))) return;
  throw new StorageRefusal("storage-sharing-off", "Sharing is turned off on this server");
}

/** The own store of another agent, by its id or by that of the agent. */
function granteeIn(grantee: string): string {
  const store = storeOfName(grantee);
  if (store !== null) return store;
  throw unfit("The field grantee is no id of an agent");
}

/** A place that a request names. */
interface Place {
  readonly store: string;
  readonly key: string;
}

const getFields = z.strictObject({ ...agentFields, ...hintFields, namespace: optionalText });

/**
 * Returns an entry, or 404. `isProgram`: whether a program asks and not a model's tool. Then it also gets what it has
 * set out of sight of models, where the operator allows that.
 */
export async function getEntry(
  caller: StorageCaller,
  { key: encodedKey, query, isProgram }: { key: string; query: unknown; isProgram: boolean },
): Promise<StorageAnswer> {
  const { namespace, ...fields } = checked(getFields, query);
  const place = { store: storeIn(caller, fields), key: keyIn(encodedKey) };
  const mayBeInternal = isProgram && caller.options.internalValues;
  if (namespace && !mayBeInternal) return notFound;
  if (mayBeInternal) {
    const input = { ...place, ...(namespace && { namespace }) };
    const result = await caller.runtime.callAsHost("stores/GetInternal", input, caller.ctx);
    // A policy can take this tool away. Then the entries that models see are left.
    const isGone = !result.ok && result.error.code === "TOOL_UNKNOWN" && !namespace;
    if (!result.ok && !isGone) return failureAnswer(result.error);
    const internal = result.ok ? (result.data as { readonly found: boolean; readonly value: unknown }) : null;
    if (internal?.found) return done({ key: place.key, storeId: place.store, value: internal.value });
    if (namespace) return notFound;
  }
  const result = await callMemory(caller, { command: "view", path: pathOf(place) });
  if (!result.ok) return failureAnswer(result.error);
  const { entries } = result.data as { entries: readonly EntryData[] };
  const [first, ...others] = entries.map(shownEntry);
  return first === undefined ? notFound : done(withOrigins({ ...first, ...(others.length > 0 && { others }) }, result));
}

const notFound: StorageAnswer = { status: 404, body: { error: "Memory not found" } };

const noFields = z.strictObject({});

const putFields = z.strictObject({
  ...agentFields,
  ...hintFields,
  value: z.unknown(),
  /** Seconds; `null` and 0: never. */
  ttl: z.optional(z.nullable(z.number())),
  namespace: optionalText,
  inContext: z.optional(z.boolean()),
  encrypted: z.optional(z.boolean()),
});

/** Creates an entry or replaces it, with all its flags. */
export async function putEntry(
  caller: StorageCaller,
  { key: encodedKey, query, body }: { key: string; query: unknown; body: unknown },
): Promise<StorageAnswer> {
  // A client that does not encode a key sends what stands behind its question mark as a query.
  checked(noFields, query);
  const { value, ttl, namespace, inContext = true, encrypted = false, ...fields } = checked(putFields, body);
  if (value === undefined) throw unfit("The field value is missing or wrong");
  const place = { store: storeIn(caller, fields), key: keyIn(encodedKey) };
  const ending = ttl === undefined || ttl === null || ttl === 0 ? {} : { ttl };
  const { runtime, ctx } = caller;
  const shown = (): unknown => ({ ok: true, key: place.key, storeId: place.store });
  if (!inContext) {
    const input = { ...place, value, encrypted, ...(namespace && { namespace }), ...ending };
    return answerFor(await runtime.callAsHost("stores/SetInternal", input, ctx), shown);
  }
  if (encrypted || namespace) throw unfit("The fields encrypted and namespace are for entries with inContext false");
  return answerFor(
    await callMemory(caller, { command: "create", path: pathOf(place), content: value, ...ending }),
    shown,
  );
}

const deleteFields = z.strictObject({ ...agentFields, ...hintFields });

export async function deleteEntry(
  caller: StorageCaller,
  { key: encodedKey, query }: { key: string; query: unknown },
): Promise<StorageAnswer> {
  const place = { store: storeIn(caller, checked(deleteFields, query)), key: keyIn(encodedKey) };
  const result = await callMemory(caller, { command: "delete", path: pathOf(place) });
  return answerFor(result, () => ({ ok: true }));
}

const pathOf = ({ store, key }: Place): string => pathIn(store, key);

/** The key of one entry. The tool checks the rest of it. */
function keyIn(encodedKey: string): string {
  const key = decodedPart(encodedKey);
  if (key === "" || key.endsWith("/")) throw unfit("The key is empty or ends in a slash");
  return key;
}
