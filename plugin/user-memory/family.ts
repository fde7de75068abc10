/**
 * Declares this family. The build derives the manifest from it; it is not part of the guest.
 *
 * A model reads the descriptions when it chooses a tool.
 */
import type { Family } from "../../shared/manifest.ts";
import { addOutput, entriesOutput, indexOutput, inspectOutput } from "../../shared/roles.ts";
import * as z from "../../shared/zod.ts";
import { entriesInput, indexInput, inspectInput, restoreInput } from "../kit/inputs.ts";
import { addInput } from "./schemas/add.ts";
import { readInput, readOutput } from "./schemas/read.ts";
import { searchInput, searchOutput } from "./schemas/search.ts";
import { updateInputFlat } from "./schemas/update-flat.ts";
import { updateInput, updateOutput } from "./schemas/update.ts";

export const family: Family = {
  name: "user-memory",
  version: "0.1.0",
  instructions:
    "User memory keeps what lasts about the user, across conversations: preferences, corrections, facts about projects, " +
    "and references, each in an entry with a name and a line in the index. ReadUserMemory gives an entry's full text, " +
    "SearchUserMemory finds entries by words, and UpdateUserMemory writes or deletes an entry. Keep what will matter " +
    "later, and update an existing entry rather than adding a second one about the same thing.",
  tools: [
    {
      name: "UpdateUserMemory",
      export: "update_user_memory",
      audience: "model",
      description:
        "Writes or deletes a persistent memory entry in the caller's personal folder. " +
        '"upsert" creates an entry or replaces the one of the same name; it needs type, description and body. ' +
        '"delete" moves an entry to the trash; it needs only the name. ' +
        "Both take ifUpdated, to change nothing if somebody else has changed the entry since you read it. " +
        "Types: user for lasting preferences and standing instructions, feedback for corrections the user has given, " +
        "project for project facts (stack, conventions, key files), reference for URLs and external IDs. " +
        "Look at the index before writing and replace an entry rather than adding a second one about the same thing.",
      input: updateInputFlat,
      exactInput: updateInput,
      output: updateOutput,
      scopes: ["memory"],
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "ReadUserMemory",
      role: "read",
      export: "read_user_memory",
      audience: "model",
      description:
        "Reads the full text of one memory entry of the caller. The index in the system prompt lists the names.",
      input: readInput,
      output: readOutput,
      scopes: ["memory"],
      rights: ["read", "list"],
    },
    {
      name: "SearchUserMemory",
      role: "search",
      export: "search_user_memory",
      audience: "model",
      description:
        "Finds memory entries of the caller by words in their names, descriptions and texts, the best first, each with " +
        "a line of its text. Without a query it lists the entries, the one updated last first. " +
        "The index in the system prompt can be cut: this finds the rest. ReadUserMemory gives the full text.",
      input: searchInput,
      output: searchOutput,
      scopes: ["memory"],
      rights: ["read", "list"],
    },
    {
      name: "PromptIndex",
      role: "index",
      export: "prompt_index",
      audience: "host",
      description: "The index of the caller's memory, framed for a system prompt. Reads only.",
      input: indexInput,
      output: indexOutput,
      scopes: ["memory"],
      rights: ["read", "list"],
    },
    {
      name: "ListEntries",
      role: "entries",
      entryFile: "{name}.md",
      export: "list_entries",
      audience: "host",
      description:
        "All entries of the caller, names and descriptions: the index in its order, then those without a line. Reads only.",
      input: entriesInput,
      output: entriesOutput,
      scopes: ["memory"],
      rights: ["read", "list"],
    },
    {
      name: "InspectMemory",
      role: "inspect",
      derivedFiles: ["MEMORY.md"],
      export: "inspect_memory",
      audience: "host",
      description: "Reports what is wrong with the caller's files after edits or damage, and mends it.",
      input: inspectInput,
      output: inspectOutput,
      scopes: ["memory"],
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "RestoreEntry",
      role: "restore",
      export: "restore_entry",
      audience: "host",
      description: "Puts a trashed entry back and lists it in the index again.",
      input: restoreInput,
      output: z.strictObject({ name: z.string(), path: z.string(), trashed: z.string() }),
      scopes: ["memory"],
      rights: ["read", "list", "write"],
    },
    {
      name: "AddEntry",
      role: "add",
      export: "add_entry",
      audience: "host",
      description: "Makes an entry of the type user of a person's text, with a name and a description made of it.",
      input: addInput,
      output: addOutput,
      scopes: ["memory"],
      rights: ["read", "list", "write", "trash", "clock"],
    },
  ],
};
