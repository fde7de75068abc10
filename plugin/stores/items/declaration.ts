/** What the manifest says about the tool `StoreBatch`. Not part of the guest. */
import type { Family } from "../../../shared/manifest.ts";
import { anyStore } from "../../../shared/shared-scope.ts";
import * as z from "../../../shared/zod.ts";

const labels = (meaning: string) => z.described(z.array(z.string()), meaning);
const count = (meaning: string) => z.optional(z.described(z.int(), meaning));
const namespace = labels("Labels, the outermost first");
const place = { namespace, key: z.string() };

const operation = z.union([
  z.strictObject({ op: z.literal("get"), ...place }),
  z.strictObject({ op: z.literal("put"), ...place, value: z.described(z.unknown(), "Any JSON value") }),
  z.strictObject({ op: z.literal("delete"), ...place }),
  z.strictObject({
    op: z.literal("search"),
    namespace: z.optional(labels("In and below it. Default: everywhere")),
    filter: z.described(
      z.optional(z.record(z.string(), z.unknown())),
      "Fields with the values that they have, or with conditions: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin",
    ),
    query: z.optional(z.described(z.string(), "Words to look for: then the best items come first, at most 50")),
    limit: count("Default: 10"),
    offset: count("How many of the found items to pass over"),
    after: z.optional(z.described(z.string(), "Goes on where an earlier answer ended")),
  }),
  z.strictObject({
    op: z.literal("namespaces"),
    begins: z.optional(labels("The first labels; * is any label")),
    ends: z.optional(labels("The last labels")),
    depth: count("Cuts off labels after so many"),
    limit: count("Default: 100"),
    offset: count("How many to pass over"),
  }),
]);

const item = z.strictObject({
  ...place,
  value: z.unknown(),
  created: z.described(z.nullable(z.string()), "UTC, ISO 8601"),
  updated: z.nullable(z.string()),
  score: z.optional(z.described(z.number(), "With a query")),
});

const next = z.strictObject({ offset: z.int(), after: z.optional(z.string()) });

const result = z.strictObject({
  item: z.described(z.optional(z.nullable(item)), "Of get; null if there is none"),
  items: z.described(z.optional(z.array(item)), "Of search"),
  namespaces: z.described(z.optional(z.array(z.array(z.string()))), "Of namespaces, sorted"),
  changed: z.described(z.optional(z.boolean()), "Of put and delete; false if a later change of the item counts"),
  next: z.described(z.optional(next), "There is more: the same operation goes on with these fields"),
  left: z.described(z.optional(z.literal(true)), "The answer has no room for this read: ask again"),
  leftOut: z.described(z.optional(z.int()), "Of a query: items that were not searched, or have no room"),
  unreadable: z.described(
    z.optional(z.union([z.string(), z.int()])),
    "Of get, why the file cannot be read. Of search, how many were passed over for that",
  ),
});

export const storeBatch: Family["tools"][number] = {
  name: "StoreBatch",
  export: "store_batch",
  audience: "host",
  description:
    "Items of programs: JSON values under keys in namespaces of the caller's own store, which no model and no grant " +
    "reaches. All changes of a batch happen or none. Reads see the items as they were before it.",
  input: z.strictObject({ operations: z.described(z.array(operation), "At most 500") }),
  output: z.strictObject({ results: z.described(z.array(result), "One for each operation, in their order") }),
  scopes: [anyStore],
  rights: ["read", "list", "write", "trash", "clock", "grant_list"],
};
