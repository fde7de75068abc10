/** The plugin's exports: one function for each command or tool that `family.ts` declares. Wiring only. */
import type * as z from "../../shared/zod.ts";
import { entriesInput, indexInput, inspectInput } from "../kit/inputs.ts";
import { serveHostTool, serveProgram, serveWithCodes } from "../kit/serve-tool.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { createEntry, deleteEntry, editEntry, renameEntry } from "./change-entry.ts";
import { clearEntries } from "./clear-entries.ts";
import { inspectStore } from "./inspect-store.ts";
import { runBatch } from "./items/run-batch.ts";
import { listOwnEntries, readOwnEntry } from "./own-entries.ts";
import { batchInput, clearInput, getInternalInput, readInput, setInternalInput } from "./program-schemas.ts";
import { getInternal, setInternal } from "./programs.ts";
import { promptKeys } from "./prompt-keys.ts";
import {
  anthropicNames,
  createInput,
  deleteInput,
  editInput,
  memoryFields,
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

const otherFields = [...memoryFields, ...anthropicNames];

function serveCommand<Input, Data>(schema: z.ZodMiniType<Input>, work: (input: Input) => Answer<Data>): () => number {
  return serveWithCodes({ toolName: "memory", schema, otherFields }, work);
}

export const memory_view = serveCommand(viewInput, viewMemory);

export const memory_create = serveCommand(createInput, createEntry);

export const memory_edit = serveCommand(editInput, editEntry);

export const memory_delete = serveCommand(deleteInput, deleteEntry);

export const memory_rename = serveCommand(renameInput, renameEntry);

export const memory_search = serveCommand(searchInput, searchMemory);

export const memory_share = serveCommand(shareInput, shareStore);

export const memory_unshare = serveCommand(unshareInput, unshareStore);

export const memory_stores = serveCommand(storesInput, listStores);

export const memory_keys = serveHostTool("MemoryKeys", indexInput, promptKeys);

export const list_own_entries = serveHostTool("ListOwnEntries", entriesInput, listOwnEntries);

export const read_own_entry = serveHostTool("ReadOwnEntry", readInput, readOwnEntry);

export const inspect_store = serveHostTool("InspectStore", inspectInput, inspectStore);

export const get_internal = serveProgram("GetInternal", getInternalInput, getInternal);

export const set_internal = serveHostTool("SetInternal", setInternalInput, setInternal);

export const clear_entries = serveHostTool("ClearEntries", clearInput, clearEntries);

export const store_batch = serveProgram("StoreBatch", batchInput, runBatch);

export {
  caller_notes_forget,
  caller_notes_get,
  caller_notes_list,
  caller_notes_pull,
  caller_notes_push,
  caller_notes_put,
  caller_notes_search,
} from "./notes/exports.ts";
