import type { Family } from "../../../shared/manifest.ts";
import * as z from "../../../shared/zod.ts";

const anything = z.unknown();

/** Tools that do what their input says, with different grants. With them a caller can imitate any hostile plugin. */
export const family: Family = {
  name: "puppet",
  version: "0.1.0",
  tools: [
    {
      name: "Puppet",
      export: "puppet",
      audience: "model",
      description: "Does what its input says, with every right on the memory scope.",
      input: anything,
      output: anything,
      scopes: ["memory"],
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "ReadingPuppet",
      export: "reading_puppet",
      audience: "model",
      description: "The same with the right to read only.",
      input: anything,
      output: anything,
      scopes: ["memory"],
      rights: ["read"],
    },
    {
      name: "ListingPuppet",
      export: "listing_puppet",
      audience: "model",
      description: "The same with the right to list only.",
      input: anything,
      output: anything,
      scopes: ["memory"],
      rights: ["list"],
    },
    {
      name: "TwoScopesPuppet",
      export: "two_scopes_puppet",
      audience: "model",
      description: "The same with every right on two scopes.",
      input: anything,
      output: anything,
      scopes: ["memory", "notes"],
      rights: ["read", "list", "write", "trash", "clock"],
    },
  ],
};
