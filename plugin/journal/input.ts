/** The inputs of the tools. The fields are in the order in which agentool checks them. */
import * as z from "../../shared/zod.ts";
import type { CodeOfField } from "../kit/parse-input.ts";
import { contentField, keyField, limitField, matchField, queryField, tagsField, targetField } from "./fields.ts";

export const writeInput = z.strictObject(
  {
    key: keyField("The block's heading: what it is about, on one line. No other block of the memory may have it"),
    content: contentField("The block's text, in Markdown"),
    tags: tagsField("Labels to find the block by, compared exactly; without them it has none"),
    target: targetField,
  },
  { error: "no other fields than key, content, tags and target" },
);

export type WriteInput = z.infer<typeof writeInput>;

export const updateInput = z.strictObject(
  {
    key: keyField("The key of a block that exists, exactly as memory_read or memory_search show it"),
    content: contentField("The block's new text, all of it, in Markdown"),
    tags: tagsField(
      "The block's new labels, which replace all present ones; [] removes them; if left out, they are kept",
    ),
  },
  { error: "no other fields than key, content and tags" },
);

export type UpdateInput = z.infer<typeof updateInput>;

export const readInput = z.strictObject(
  { key: keyField("The key of the block, exactly: case counts") },
  { error: "no other field than key" },
);

export type ReadInput = z.infer<typeof readInput>;

/** The same for the host. */
export const readEntryInput = z.strictObject(
  { name: keyField("A key of JournalEntries, or any other") },
  { error: "no other field than name" },
);

export const searchInput = z.strictObject(
  {
    query: queryField,
    tags: tagsField("Only blocks that have all of these labels, compared exactly; case counts"),
    limit: limitField,
    match: matchField,
  },
  { error: "no other fields than query, tags, limit and match" },
);

export type SearchInput = z.infer<typeof searchInput>;

/** Returns agentool's code for the first wrong field. Unknown fields and fields of a wrong type have the same code. */
export function codeOfFieldIn({ shape }: { readonly shape: object }): CodeOfField {
  const names = Object.keys(shape);
  return (field, value) => {
    const isKnown = names.includes(field) && typeof value === "string";
    if (isKnown && field === "key") return "MEMORY_INVALID_KEY";
    if (isKnown && field === "target") return "MEMORY_INVALID_TARGET";
    return "INVALID_PATH";
  };
}
