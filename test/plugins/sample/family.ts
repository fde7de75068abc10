/**
 * What this family is: read by the build, which derives the manifest from it. Not part of the guest.
 *
 * The descriptions are what a model reads when it chooses a tool.
 */
import type { Family } from "../../../shared/manifest.ts";
import { readInput, readOutput, writeInput, writeOutput } from "./schemas.ts";

export const family: Family = {
  name: "sample",
  version: "0.1.0",
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
      description: "Reads a text of the caller by its name, the whole of it, just as sample_write has kept it.",
      input: readInput,
      output: readOutput,
      scopes: ["sample"],
      rights: ["read"],
    },
  ],
  errors: [{ code: "TEXT_NOT_FOUND", of: "ENTRY_NOT_FOUND", meaning: "The user has no text of this name." }],
};
