/** The plugin's exports: one function for each tool that `family.ts` declares. Wiring only. */
import { entriesInput, indexInput, inspectInput } from "../kit/inputs.ts";
import { serveHostTool, serveWithCodes } from "../kit/serve-tool.ts";
import { codeOfFieldIn, readEntryInput, readInput, searchInput, updateInput, writeInput } from "./input.ts";
import { inspectJournal } from "./inspect-journal.ts";
import { listKeys } from "./list-keys.ts";
import { promptSummary } from "./prompt-summary.ts";
import { readEntry } from "./read-entry.ts";
import { readKey } from "./read-key.ts";
import { searchEntries } from "./search-entries.ts";
import { updateEntry } from "./update-entry.ts";
import { writeEntry } from "./write-entry.ts";

export const memory_write = serveWithCodes(
  { toolName: "memory_write", schema: writeInput, codeOfField: codeOfFieldIn(writeInput) },
  writeEntry,
);

export const memory_update = serveWithCodes(
  { toolName: "memory_update", schema: updateInput, codeOfField: codeOfFieldIn(updateInput) },
  updateEntry,
);

export const memory_read = serveWithCodes(
  { toolName: "memory_read", schema: readInput, codeOfField: codeOfFieldIn(readInput) },
  readEntry,
);

export const memory_search = serveWithCodes(
  { toolName: "memory_search", schema: searchInput, codeOfField: codeOfFieldIn(searchInput) },
  searchEntries,
);

export const journal_index = serveHostTool("JournalIndex", indexInput, promptSummary);

export const journal_entries = serveHostTool("JournalEntries", entriesInput, listKeys);

export const read_journal_entry = serveHostTool("ReadJournalEntry", readEntryInput, readKey);

export const inspect_journal = serveHostTool("InspectJournal", inspectInput, inspectJournal);
