import { entriesInput, indexInput, inspectInput } from "../../../plugin/kit/inputs.ts";
import type { Family } from "../../../shared/manifest.ts";
import { entriesOutput, indexOutput, inspectOutput } from "../../../shared/roles.ts";
import * as z from "../../../shared/zod.ts";

const anything = z.unknown();

/** A plugin of somebody else: its answers show what a test says, and say of that what a test says. It cannot mend. */
export const family: Family = {
  name: "showing-puppet",
  version: "0.1.0",
  tools: [
    {
      name: "Show",
      export: "show",
      audience: "model",
      description: "Writes and reads what its input says, and answers with what its input says.",
      input: anything,
      output: anything,
      scopes: ["shown"],
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "ShownIndex",
      export: "shown_index",
      audience: "host",
      role: "index",
      description: "The same for what its derived file says.",
      input: indexInput,
      output: indexOutput,
      scopes: ["shown"],
      rights: ["read"],
    },
    {
      name: "ShownEntries",
      export: "shown_entries",
      audience: "host",
      role: "entries",
      entryFile: "{name}.md",
      description: "The same for what its derived file says.",
      input: entriesInput,
      output: entriesOutput,
      scopes: ["shown"],
      rights: ["read"],
    },
    {
      name: "InspectShown",
      export: "inspect_shown",
      audience: "host",
      role: "inspect",
      derivedFiles: ["index.json"],
      description: "Finds nothing.",
      input: inspectInput,
      output: inspectOutput,
      scopes: ["shown"],
      rights: ["read", "list"],
    },
  ],
};
