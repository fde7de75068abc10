/**
 * The second entry of an export, if there is one: which of its files are trusted less than what nobody has told. Anybody
 * can make a zip file, so an import only lowers trust by it.
 */
import type { OriginClass } from "../../shared/origin.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import { transferLimits } from "./transfer-limits.ts";

export const originsName = "memcell-origins.json";

/** An import trusts no file more than `unstated`, so only these classes change anything. */
const lowClasses = ["tool_external", "untrusted_document"] as const satisfies readonly OriginClass[];

/** The names of files in the zip file. */
const names = z.optional(z.array(z.string()));

const originsSchema = z.strictObject({
  version: z.literal(1),
  trust: z.strictObject({ tool_external: names, untrusted_document: names }),
});

/** `null` if no file is trusted less. */
export function originsOf(files: readonly MemoryFile[]): Buffer | null {
  const trust: Partial<Record<OriginClass, string[]>> = {};
  for (const each of lowClasses) {
    const ofClass = files.filter((file) => file.trust === each).map(({ scope, path }) => `${scope}/${path}`);
    if (ofClass.length > 0) trust[each] = ofClass;
  }
  return Object.keys(trust).length === 0 ? null : Buffer.from(`${JSON.stringify({ version: 1, trust })}\n`);
}

/** The trust of files, by their names in the zip file. `null` if the bytes are not of a known version, or name a file twice. */
export function readOrigins(bytes: Uint8Array): ReadonlyMap<string, OriginClass> | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const { success, data } = z.safeParse(originsSchema, parseStrictJson(text, transferLimits.labelDepthMax));
    if (!success) return null;
    const named = lowClasses.flatMap((each) => (data.trust[each] ?? []).map((name) => [name, each] as const));
    const origins = new Map(named);
    return origins.size === named.length ? origins : null;
  } catch {
    return null;
  }
}
