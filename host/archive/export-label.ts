/** The first entry of an export: what the file is. Whose files they were is not in it. */
import { scopeName } from "../../shared/path.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import { transferLimits } from "./transfer-limits.ts";

export const labelName = "memcell-export.json";

/** Of what an export of version 1 was, which knew no other. One that has no other scope is still written as it was. */
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

/** `null` when the label is none of these versions. */
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

/** A file's scope and path, by its name in the zip file; `null` for a name that none has. */
export function placeOf(name: string): { readonly scope: string; readonly path: string } | null {
  const slash = name.indexOf("/");
  const scope = name.slice(0, Math.max(0, slash));
  return scopeName.test(scope) ? { scope, path: name.slice(slash + 1) } : null;
}
