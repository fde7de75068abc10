/** `/api/storage/memory`: what a store holds, a search, the stores that the caller reaches, and grants. */
import { accessLevels } from "../../../shared/shared-scope.ts";
import * as z from "../../../shared/zod.ts";
import { storeOfName } from "../../values/store-id.ts";
import { agentFields, checked, hintFields, optionalText } from "./fields.ts";
import { answerFor, entriesFor, shownEntry } from "./storage-answer.ts";
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
