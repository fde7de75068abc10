/** What the plugin exports: one function for each tool, as `family.ts` declares them. Nothing but wiring. */
import { rehearseInput } from "../parse-input.ts";
import { serveWithCodes } from "../serve-tool.ts";
import { codesOf, readInput, searchInput, updateInput, writeInput } from "./input.ts";
import { readEntry } from "./read-entry.ts";
import { searchEntries } from "./search-entries.ts";
import { updateEntry } from "./update-entry.ts";
import { writeEntry } from "./write-entry.ts";

rehearseInput(writeInput, { key: "a", content: "", tags: ["a"], target: "daily" });
rehearseInput(updateInput, { key: "a", content: "", tags: ["a"] });
rehearseInput(readInput, { key: "a" });
rehearseInput(searchInput, { query: "a", tags: ["a"], limit: 1 });

export function memory_write(): number {
  return serveWithCodes(
    { toolName: "memory_write", schema: writeInput, codeOfField: codesOf("key", "target") },
    writeEntry,
  );
}

export function memory_update(): number {
  return serveWithCodes({ toolName: "memory_update", schema: updateInput, codeOfField: codesOf("key") }, updateEntry);
}

export function memory_read(): number {
  return serveWithCodes({ toolName: "memory_read", schema: readInput, codeOfField: codesOf("key") }, readEntry);
}

export function memory_search(): number {
  return serveWithCodes({ toolName: "memory_search", schema: searchInput, codeOfField: codesOf() }, searchEntries);
}
