/** The fields of a request: those of its query, where each stands as often as it may, and those of its body. */
import * as z from "../../../shared/zod.ts";
import { unfit } from "./storage-refusal.ts";

const pairsMax = 64;

/**
 * Reads a query, without its question mark. A field of `lists` may stand in it several times and is a list. Throws
 * `storage-unfit` for any other repeated field: what reads the first one and what reads the last would disagree.
 */
export function fieldsOfQuery(query: string, lists: readonly string[]): Record<string, unknown> {
  const pairs = query === "" ? [] : query.split("&");
  if (pairs.length > pairsMax) throw unfit(`The query has more than ${pairsMax} parameters`);
  const [fields, listed] = [new Map<string, string>(), new Map<string, string[]>()];
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const [name, value] = at < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))];
    if (lists.includes(name)) listed.set(name, [...(listed.get(name) ?? []), value]);
    else if (fields.has(name)) throw unfit("The query has a parameter twice");
    else fields.set(name, value);
  }
  return Object.fromEntries<unknown>([...fields, ...listed]);
}

const decoded = (text: string): string => decodedPart(text.replaceAll("+", " "));

/** Decodes percent escapes once. Throws `storage-unfit` for an escape that is none, and for bytes that are not UTF-8. */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unfit("The address has a wrong percent escape");
  }
}

/** Returns fields of a known form. Throws `storage-unfit`, also for an unknown field. */
export function checked<Fields>(schema: z.ZodMiniType<Fields>, fields: unknown): Fields {
  const parsed = z.safeParse(schema, fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const [name] = issue?.path ?? [];
  // A name that the client has chosen is not repeated in the answer.
  throw unfit(typeof name === "string" ? `The field ${name} is missing or wrong` : "A field is unknown or missing");
}

const text = z.string();

/** Clients send nothing, an empty text or `null` for what they do not have. */
export const optionalText = z.optional(z.nullable(text));

/** Who asks, according to the client. `store` is the store that it means. */
export const agentFields = { agentId: optionalText, store: optionalText };

/** Where the client works, according to itself. This opens nothing: nobody here vouches for it. */
export const hintFields = { chatId: optionalText, userId: optionalText };
