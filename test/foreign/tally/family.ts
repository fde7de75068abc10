/** A family with a module compiled from AssemblyScript: `tally.as.ts`, sealed by `npm run seal`. */
import type { Family } from "../../../shared/manifest.ts";
import * as z from "../../../shared/zod.ts";

const output = z.strictObject({ total: z.described(z.int(), "What was counted") });

export const family: Family = {
  name: "tally",
  version: "0.1.0",
  tools: [
    {
      name: "tally_add",
      export: "tally_add",
      audience: "model",
      description: "Adds to the caller's tally and tells the new total.",
      input: z.strictObject({ by: z.described(z.int().check(z.nonnegative(), z.maximum(999)), "How many to add") }),
      output,
      scopes: ["tally"],
      rights: ["read", "write"],
    },
    {
      name: "tally_total",
      export: "tally_total",
      audience: "model",
      description: "Tells the total of the caller's tally.",
      input: z.strictObject({}),
      output,
      scopes: ["tally"],
      rights: ["read"],
    },
  ],
  errors: [{ code: "TALLY_FULL", of: "QUOTA_EXCEEDED", meaning: "The total would be over 999,999,999." }],
};
