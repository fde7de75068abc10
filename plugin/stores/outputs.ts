/** What the tools of the family return as `data`. Not part of the guest. */
import { accessLevels, accessSources } from "../../shared/shared-scope.ts";
import * as z from "../../shared/zod.ts";

const entry = {
  path: z.described(z.string(), "The path under which the caller finds the entry"),
  key: z.string(),
  storeId: z.string(),
  owner: z.described(z.string(), "The id of the own store of whoever created it"),
  created: z.described(z.nullable(z.string()), "UTC, ISO 8601; null if unknown"),
  updated: z.nullable(z.string()),
  expires: z.described(z.nullable(z.string()), "When the entry ends; null: never"),
  encrypted: z.described(z.boolean(), "Whether the value is opaque"),
  bytes: z.described(z.int(), "The size of the value"),
};

export const memoryOutput = z.strictObject({
  entries: z.described(
    z.optional(
      z.array(z.strictObject({ ...entry, value: z.described(z.optional(z.unknown()), "With one entry's path") })),
    ),
    "With view. Empty if there is nothing; with a key several if several agents have created one",
  ),
  results: z.described(
    z.optional(
      z.array(
        z.strictObject({
          ...entry,
          score: z.described(z.number(), "Higher is better; comparable within one answer"),
          snippet: z.described(z.string(), "One line of the value with what was found"),
          value: z.described(z.optional(z.unknown()), "Missing if the answer would become too large"),
        }),
      ),
    ),
    "With search, the best first",
  ),
  stores: z.described(
    z.optional(
      z.array(z.strictObject({ storeId: z.string(), level: z.enum(accessLevels), source: z.enum(accessSources) })),
    ),
    "With stores: every store that the caller reaches, its own first",
  ),
});
