/** The plugin's exports: one function for each tool that `family.ts` declares. Wiring only. */
import { entriesInput, indexInput, inspectInput, restoreInput } from "../kit/inputs.ts";
import { serveHostTool, serveTool } from "../kit/serve-tool.ts";
import { addEntry } from "./add-entry.ts";
import { deleteEntry } from "./delete-entry.ts";
import { inspectMemory } from "./inspect-memory.ts";
import { listEntries } from "./list-entries.ts";
import { promptIndex } from "./prompt-index.ts";
import { readEntry } from "./read-entry.ts";
import { restoreEntry } from "./restore-entry.ts";
import { addInput } from "./schemas/add.ts";
import { readInput } from "./schemas/read.ts";
import { searchInput } from "./schemas/search.ts";
import { updateInput } from "./schemas/update.ts";
import { searchOrList } from "./search-entries.ts";
import { upsertEntry } from "./upsert-entry.ts";

export const update_user_memory = serveTool("UpdateUserMemory", updateInput, (input) =>
  input.action === "upsert" ? upsertEntry(input) : deleteEntry(input),
);

export const read_user_memory = serveTool("ReadUserMemory", readInput, ({ name }) => readEntry(name));

export const search_user_memory = serveTool("SearchUserMemory", searchInput, searchOrList);

export const prompt_index = serveHostTool("PromptIndex", indexInput, promptIndex);

export const list_entries = serveHostTool("ListEntries", entriesInput, () => listEntries());

export const inspect_memory = serveHostTool("InspectMemory", inspectInput, inspectMemory);

export const restore_entry = serveHostTool("RestoreEntry", restoreInput, ({ trashed }) => restoreEntry(trashed));

export const add_entry = serveHostTool("AddEntry", addInput, addEntry);
