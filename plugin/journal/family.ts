/**
 * Declares this family. The build derives the manifest from it; it is not part of the guest.
 *
 * A model reads the descriptions when it chooses a tool.
 */
import type { Family } from "../../shared/manifest.ts";
import { entriesOutput, indexOutput, inspectOutput } from "../../shared/roles.ts";
import { entriesInput, indexInput, inspectInput } from "../kit/inputs.ts";
import { readEntryInput, readInput, searchInput, updateInput, writeInput } from "./input.ts";
import { readEntryOutput, readOutput, searchOutput, updateOutput, writeOutput } from "./output.ts";

export const family: Family = {
  name: "journal",
  version: "0.1.0",
  instructions:
    "The journal is a log by date: it keeps blocks of text under keys, about what happened, what was decided and why. " +
    "memory_write adds a block under a new key to the log of the day, or to the summary, which should hold only what " +
    "every session needs; memory_update replaces a block. memory_read gives the block of a key, and memory_search finds " +
    "blocks by a text and by tags.",
  tools: [
    {
      name: "memory_write",
      export: "memory_write",
      audience: "model",
      description:
        "Creates a block of the caller's memory under a key that no block has yet, in any file. " +
        'target "daily", the default, adds it to the log of the present UTC day, YYYY/MM/dd.md; "summary" adds it to ' +
        "MEMORY.md, which memory_read and memory_search put before the daily files. " +
        "When the key exists, the answer is MEMORY_KEY_EXISTS and nothing is written: " +
        "call memory_read to see the block, then memory_update to replace it.",
      input: writeInput,
      output: writeOutput,
      scopes: ["journal"],
      // A file that is not UTF-8 text goes to the trash before it is written again.
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "memory_update",
      export: "memory_update",
      audience: "model",
      description:
        "Replaces the canonical block of a key in the caller's memory, which is the one that memory_read shows: the " +
        "newest in MEMORY.md; when the key is not there, the newest in the daily files. " +
        "content replaces the whole text. The new block stands at the end of the same file and keeps the time when it " +
        "was created; its tags stay unless new ones are given. A key that no block has is MEMORY_KEY_NOT_FOUND: " +
        "memory_write creates one.",
      input: updateInput,
      output: updateOutput,
      scopes: ["journal"],
      // A file that is not UTF-8 text goes to the trash before it is written again.
      rights: ["read", "list", "write", "trash", "clock"],
    },
    {
      name: "memory_read",
      export: "memory_read",
      audience: "model",
      description:
        "Reads the canonical block of a key in the caller's memory: the newest with this key in MEMORY.md; when the " +
        "key is not there, the newest in the daily files. The answer's kind says which, summary or daily. " +
        "Keys are compared exactly; memory_search finds keys.",
      input: readInput,
      output: readOutput,
      scopes: ["journal"],
      rights: ["read", "list"],
    },
    {
      name: "memory_search",
      export: "memory_search",
      audience: "model",
      description:
        "Finds the blocks of the caller's memory that hold a text in key or content, without regard to case, and have " +
        "all tags that are given. Blocks of MEMORY.md (kind summary) come first, then those of the daily files, of " +
        "each the newest first; each comes with its whole content. An empty query finds every block that has the tags. " +
        'With match "words" it finds the blocks that have any of the query\'s words, the best first.',
      input: searchInput,
      output: searchOutput,
      scopes: ["journal"],
      rights: ["read", "list"],
    },
    {
      name: "JournalIndex",
      export: "journal_index",
      audience: "host",
      role: "index",
      description: "The summary of the caller's journal, framed for a system prompt. Reads only.",
      input: indexInput,
      output: indexOutput,
      scopes: ["journal"],
      rights: ["read", "list"],
    },
    {
      name: "JournalEntries",
      export: "journal_entries",
      audience: "host",
      role: "entries",
      description: "The keys of the caller's journal, each with the first line of its block. Reads only.",
      input: entriesInput,
      output: entriesOutput,
      scopes: ["journal"],
      rights: ["read", "list"],
    },
    {
      name: "ReadJournalEntry",
      export: "read_journal_entry",
      audience: "host",
      role: "read",
      description: "The canonical block of a key, as memory_read shows it. Reads only.",
      input: readEntryInput,
      output: readEntryOutput,
      scopes: ["journal"],
      rights: ["read", "list"],
    },
    {
      name: "InspectJournal",
      export: "inspect_journal",
      audience: "host",
      role: "inspect",
      description: "Reports what no tool can use in the caller's journal. Reads only.",
      input: inspectInput,
      output: inspectOutput,
      scopes: ["journal"],
      rights: ["read", "list"],
    },
  ],
  errors: [
    {
      code: "INVALID_PATH",
      of: "INPUT_INVALID",
      meaning: "A field is missing, unknown, or has a value that is not allowed.",
    },
    { code: "MEMORY_KEY_EXISTS", of: "NAME_CONFLICT", meaning: "A block of the memory has this key already." },
    { code: "MEMORY_KEY_NOT_FOUND", of: "ENTRY_NOT_FOUND", meaning: "No block of the memory has this key." },
    { code: "MEMORY_INVALID_KEY", of: "INPUT_INVALID", meaning: "The key is blank, too long, or not a single line." },
    { code: "MEMORY_INVALID_TARGET", of: "INPUT_INVALID", meaning: 'The target is neither "daily" nor "summary".' },
    {
      code: "MEMORY_STORAGE_ERROR",
      of: "ENTRY_UNREADABLE",
      meaning: "The file to change cannot be read, or the memory or a block is too large.",
    },
  ],
};
