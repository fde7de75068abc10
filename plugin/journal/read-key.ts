import type { ReadInput } from "../../shared/roles.ts";
import type { Answer } from "../serve-tool.ts";
import type { ReadEntryOutput } from "./output.ts";
import { readEntry } from "./read-entry.ts";

/** The canonical block of a key, as `memory_read` shows it: its content as the body, and what stands in its line of meta. */
export function readKey({ name }: ReadInput): Answer<ReadEntryOutput> {
  const { message, data } = readEntry({ key: name });
  const { content, tags, file, kind, created_at, updated_at } = data.data;
  return { message, data: { body: content, tags, file, kind, created_at, updated_at } };
}
