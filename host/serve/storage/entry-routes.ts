/** `/api/storage/memory/<key>`: one entry of a store. */
import * as z from "../../../shared/zod.ts";
import { agentFields, checked, decodedPart, hintFields, optionalText } from "./fields.ts";
import { answerFor, done, failureAnswer, shownEntry, withOrigins } from "./storage-answer.ts";
import type { EntryData, StorageAnswer } from "./storage-answer.ts";
import { callMemory, pathIn, storeIn } from "./storage-caller.ts";
import type { StorageCaller } from "./storage-caller.ts";
import { unfit } from "./storage-refusal.ts";

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
