/** The first entry of an export: what the file is. Whose memory it was is not in it. */
import { storeLimits } from "../../shared/limits.ts";
import { parseStrictJson } from "../../shared/strict-json.ts";
import * as z from "../../shared/zod.ts";
import { transferLimits } from "./transfer-limits.ts";

export const labelName = "memcell-export.json";

/** Where the files of memory are, in the zip file. */
export const filesFolder = "memory/";

const labelSchema = z.strictObject({
  version: z.literal(1),
  scope: z.literal("memory"),
  files: z.int().check(z.nonnegative(), z.maximum(storeLimits.listEntriesMax)),
});

export function labelFor(files: number): Buffer {
  return Buffer.from(`${JSON.stringify({ version: 1, scope: "memory", files })}\n`);
}

/** How many files the export says that it has, or `null` when the label is none of version 1. */
export function filesOnLabel(label: Uint8Array): number | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(label);
    const parsed = z.safeParse(labelSchema, parseStrictJson(text, transferLimits.labelDepthMax));
    return parsed.success ? parsed.data.files : null;
  } catch {
    return null;
  }
}
