/** The first entry of an export: says what the file is, but not whose files they were. */
import { scopeName } from "../../shared/path.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import { transferLimits } from "./transfer-limits.ts";

export const labelName = "memcell-export.json";

/** The only scope of version 1. An export that has no other scope is still written as version 1. */
const firstScope = "memory";

const files = z.int().check(z.nonnegative(), z.maximum(transferLimits.filesMax));

const labelSchema = z.discriminatedUnion("version", [
  z.strictObject({ version: z.literal(1), scope: z.literal(firstScope), files }),
  z.strictObject({ version: z.literal(2), scopes: z.array(z.string().check(z.regex(scopeName))), files }),
]);

interface Label {
  /** Sorted. */
  readonly scopes: readonly string[];
  /** How many the export has. */
  readonly files: number;
}

export function labelFor({ scopes, files: count }: Label): Buffer {
  const isFirst = scopes.every((scope) => scope === firstScope);
  const label = isFirst
    ? { version: 1, scope: firstScope, files: count }
    : { version: 2, scopes: [...scopes], files: count };
  return Buffer.from(`${JSON.stringify(label)}\n`);
}

/** Returns `null` if the label is of no known version. */
export function readLabel(label: Uint8Array): Label | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(label);
    const { success, data } = z.safeParse(labelSchema, parseStrictJson(text, transferLimits.labelDepthMax));
    if (!success) return null;
    return { scopes: data.version === 1 ? [data.scope] : data.scopes, files: data.files };
  } catch {
    return null;
  }
}

/** The scope and path for a name in the zip file; `null` if the name has no scope. */
export function placeOf(name: string): { readonly scope: string; readonly path: string } | null {
  const slash = name.indexOf("/");
  const scope = name.slice(0, Math.max(0, slash));
  return scopeName.test(scope) ? { scope, path: name.slice(slash + 1) } : null;
}
