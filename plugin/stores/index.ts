/** The plugin's exports: one function for each command or tool that `family.ts` declares. Wiring only. */
import { rehearseInput } from "../parse-input.ts";
import type { InputSchema } from "../parse-input.ts";
import { entriesInput, indexInput, inspectInput } from "../role-inputs.ts";
import { serveTool, serveWithCodes } from "../serve-tool.ts";
import type { Answer } from "../serve-tool.ts";
import { createEntry, deleteEntry, editEntry, renameEntry } from "./change-entry.ts";
import { clearEntries } from "./clear-entries.ts";
import { inspectStore } from "./inspect-store.ts";
import { memoryFields } from "./memory-fields.ts";
import { listOwnEntries, readOwnEntry } from "./own-entries.ts";
import { clearInput, getInternalInput, kvInput, kvSetInput, readInput, setInternalInput } from "./program-schemas.ts";
import { getInternal, kvDelete, kvGet, kvSet, setInternal } from "./programs.ts";
import { promptKeys } from "./prompt-keys.ts";
import {
  createInput,
  deleteInput,
  editInput,
  renameInput,
  searchInput,
  shareInput,
  storesInput,
  unshareInput,
  viewInput,
} from "./schemas.ts";
import { searchMemory } from "./search-memory.ts";
import { listStores, shareStore, unshareStore } from "./share-store.ts";
import { viewMemory } from "./view-memory.ts";

export {
  anthropic_create,
  anthropic_delete,
  anthropic_insert,
  anthropic_rename,
  anthropic_str_replace,
  anthropic_view,
} from "./anthropic/exports.ts";

rehearseInput(viewInput, { command: "view", path: "a" });
rehearseInput(createInput, { command: "create", path: "a", content: "", ttl: 1 });
rehearseInput(editInput, { command: "edit", path: "a", old_str: "a", new_str: "b" });
rehearseInput(searchInput, { command: "search", query: "a" });

function serveCommand<Input, Data>(schema: InputSchema<Input>, work: (input: Input) => Answer<Data>): number {
  return serveWithCodes({ toolName: "memory", schema, otherFields: memoryFields }, work);
}

export function memory_view(): number {
  return serveCommand(viewInput, viewMemory);
}

export function memory_create(): number {
  return serveCommand(createInput, createEntry);
}

export function memory_edit(): number {
  return serveCommand(editInput, editEntry);
}

export function memory_delete(): number {
  return serveCommand(deleteInput, deleteEntry);
}

export function memory_rename(): number {
  return serveCommand(renameInput, renameEntry);
}

export function memory_search(): number {
  return serveCommand(searchInput, searchMemory);
}

export function memory_share(): number {
  return serveCommand(shareInput, shareStore);
}

export function memory_unshare(): number {
  return serveCommand(unshareInput, unshareStore);
}

export function memory_stores(): number {
  return serveCommand(storesInput, listStores);
}

export function memory_keys(): number {
  return serveTool("MemoryKeys", indexInput, promptKeys);
}

export function list_own_entries(): number {
  return serveTool("ListOwnEntries", entriesInput, listOwnEntries);
}

export function read_own_entry(): number {
  return serveTool("ReadOwnEntry", readInput, readOwnEntry);
}

export function inspect_store(): number {
  return serveTool("InspectStore", inspectInput, inspectStore);
}

export function get_internal(): number {
  return serveTool("GetInternal", getInternalInput, getInternal);
}

export function set_internal(): number {
  return serveTool("SetInternal", setInternalInput, setInternal);
}

export function clear_entries(): number {
  return serveTool("ClearEntries", clearInput, clearEntries);
}

export function kv_get(): number {
  return serveTool("kv_get", kvInput, kvGet);
}

export function kv_set(): number {
  return serveTool("kv_set", kvSetInput, kvSet);
}

export function kv_delete(): number {
  return serveTool("kv_delete", kvInput, kvDelete);
}

export {
  caller_notes_forget,
  caller_notes_get,
  caller_notes_list,
  caller_notes_pull,
  caller_notes_push,
  caller_notes_put,
  caller_notes_search,
} from "./notes/exports.ts";
