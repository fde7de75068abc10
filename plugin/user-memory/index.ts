/** The plugin's exports: one function for each tool that `family.ts` declares. Wiring only. */
import { rehearseInput } from "../parse-input.ts";
import { entriesInput, indexInput, inspectInput, restoreInput } from "../role-inputs.ts";
import { serveTool } from "../serve-tool.ts";
import { deleteEntry } from "./delete-entry.ts";
import { inspectMemory } from "./inspect-memory.ts";
import { listEntries } from "./list-entries.ts";
import { promptIndex } from "./prompt-index.ts";
import { readEntry } from "./read-entry.ts";
import { restoreEntry } from "./restore-entry.ts";
import { readInput } from "./schemas/read.ts";
import { searchInput } from "./schemas/search.ts";
import { updateInput, updateInputFor } from "./schemas/update.ts";
import { searchOrList } from "./search-entries.ts";
import { upsertEntry } from "./upsert-entry.ts";

/** Created once: the tool is called before each prompt. */
const promptIndexInput = indexInput();

rehearseInput(updateInput, { action: "upsert", name: "a", type: "user", description: "a", body: "" });
rehearseInput(updateInput, { action: "delete", name: "a" });
rehearseInput(readInput, { name: "a" });
rehearseInput(promptIndexInput, {});

export function update_user_memory(): number {
  return serveTool("UpdateUserMemory", updateInputFor, (input) =>
    input.action === "upsert" ? upsertEntry(input) : deleteEntry(input.name),
  );
}

export function read_user_memory(): number {
  return serveTool("ReadUserMemory", readInput, ({ name }) => readEntry(name));
}

export function search_user_memory(): number {
  return serveTool("SearchUserMemory", searchInput, searchOrList);
}

export function prompt_index(): number {
  return serveTool("PromptIndex", promptIndexInput, promptIndex);
}

export function list_entries(): number {
  return serveTool("ListEntries", entriesInput, () => listEntries());
}

export function inspect_memory(): number {
  return serveTool("InspectMemory", inspectInput, inspectMemory);
}

export function restore_entry(): number {
  return serveTool("RestoreEntry", restoreInput, ({ trashed }) => restoreEntry(trashed));
}
