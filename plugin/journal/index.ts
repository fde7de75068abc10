/** The plugin's exports: one function for each tool that `family.ts` declares. Wiring only. */
import { rehearseInput } from "../parse-input.ts";
import { entriesInput, indexInput, inspectInput } from "../role-inputs.ts";
import { serveTool, serveWithCodes } from "../serve-tool.ts";
import { codeOfFieldIn, readEntryInput, readInput, searchInput, updateInput, writeInput } from "./input.ts";
import { inspectJournal } from "./inspect-journal.ts";
import { listKeys } from "./list-keys.ts";
import { promptSummary } from "./prompt-summary.ts";
import { readEntry } from "./read-entry.ts";
import { readKey } from "./read-key.ts";
import { searchEntries } from "./search-entries.ts";
import { updateEntry } from "./update-entry.ts";
import { writeEntry } from "./write-entry.ts";

rehearseInput(writeInput, { key: "a", content: "", tags: ["a"], target: "daily" });
rehearseInput(updateInput, { key: "a", content: "", tags: ["a"] });
rehearseInput(readInput, { key: "a" });
rehearseInput(searchInput, { query: "a", tags: ["a"], limit: 1 });

export function memory_write(): number {
  return serveWithCodes(
    { toolName: "memory_write", schema: writeInput, codeOfField: codeOfFieldIn(writeInput) },
    writeEntry,
  );
}

export function memory_update(): number {
  return serveWithCodes(
    { toolName: "memory_update", schema: updateInput, codeOfField: codeOfFieldIn(updateInput) },
    updateEntry,
  );
}

export function memory_read(): number {
  return serveWithCodes(
    { toolName: "memory_read", schema: readInput, codeOfField: codeOfFieldIn(readInput) },
    readEntry,
  );
}

export function memory_search(): number {
  return serveWithCodes(
    { toolName: "memory_search", schema: searchInput, codeOfField: codeOfFieldIn(searchInput) },
    searchEntries,
  );
}

export function journal_index(): number {
  return serveTool("JournalIndex", indexInput, promptSummary);
}

export function journal_entries(): number {
  return serveTool("JournalEntries", entriesInput, listKeys);
}

export function read_journal_entry(): number {
  return serveTool("ReadJournalEntry", readEntryInput, readKey);
}

export function inspect_journal(): number {
  return serveTool("InspectJournal", inspectInput, inspectJournal);
}
