import type { ReadInput } from "../../shared/roles.ts";
import type { Answer } from "../kit/serve-tool.ts";
import type { ReadEntryOutput } from "./output.ts";
import { readEntry } from "./read-entry.ts";

/** Returns what `memory_read` returns for a key, with the content as `body`. */
export function readKey({ name }: ReadInput): Answer<ReadEntryOutput> {
  const { data, ...more } = readEntry({ key: name });
  const { content, tags, file, kind, created_at, updated_at } = data.data;
  return { ...more, data: { body: content, tags, file, kind, created_at, updated_at } };
}
