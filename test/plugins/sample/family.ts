/**
 * The family's declaration, from which the build derives the manifest. Not part of the guest.
 *
 * A model reads the descriptions when it chooses a tool.
 */
import { entriesInput, indexInput, inspectInput } from "../../../plugin/kit/inputs.ts";
import type { Family } from "../../../shared/manifest.ts";
import { entriesOutput, indexOutput, inspectOutput } from "../../../shared/roles.ts";
import { readInput, readOutput, writeInput, writeOutput } from "./schemas.ts";

export const family: Family = {
  name: "sample",
  version: "0.1.0",
  instructions:
    "The sample keeps texts under names: sample_write keeps one in the place of the text that had the name before, and " +
    "sample_read gives it back. The index has the name and the first line of each.",
  tools: [
    {
      name: "sample_write",
      export: "sample_write",
      audience: "model",
      description:
        "Keeps a text of the caller under a name, in the place of the one that had the name before. " +
        "Read the present text first when only a part of it is to change.",
      input: writeInput,
      output: writeOutput,
      scopes: ["sample"],
      rights: ["write"],
    },
    {
      name: "sample_read",
      export: "sample_read",
      audience: "model",
      role: "read",
      description: "Reads a text of the caller by its name, the whole of it, just as sample_write has kept it.",
      input: readInput,
      output: readOutput,
      scopes: ["sample"],
      rights: ["read"],
    },
    // The roles that a host calls in every family: for prompts, resources, the doctor, exports and imports.
    {
      name: "sample_index",
      export: "sample_index",
      audience: "host",
      role: "index",
      description: "The caller's texts by name, each with its first line, framed for a system prompt. Reads only.",
      input: indexInput,
      output: indexOutput,
      scopes: ["sample"],
      rights: ["read", "list"],
    },
    {
      name: "sample_entries",
      export: "sample_entries",
      audience: "host",
      role: "entries",
      entryFile: "{name}.txt",
      description: "The caller's texts by name, each with its first line. Reads only.",
      input: entriesInput,
      output: entriesOutput,
      scopes: ["sample"],
      rights: ["read", "list"],
    },
    {
      name: "sample_inspect",
      export: "sample_inspect",
      audience: "host",
      role: "inspect",
      description: "What of the caller's files is no text of this family. Reads only; nothing is mended.",
      input: inspectInput,
      output: inspectOutput,
      scopes: ["sample"],
      rights: ["read", "list"],
    },
  ],
  errors: [{ code: "TEXT_NOT_FOUND", of: "ENTRY_NOT_FOUND", meaning: "The user has no text of this name." }],
};
