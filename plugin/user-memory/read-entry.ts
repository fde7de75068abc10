import { exceedsUtf8Bytes, utf8Bytes } from "../../shared/text.ts";
import { shown } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryNotFound, refuseReservedName } from "./entry-name.ts";
import { loadEntry } from "./memory-scope.ts";
import type { ReadUserMemoryOutput } from "./schemas/read.ts";

/**
 * Returns the full text of one entry as it was written, and the fields of its front matter. A person can write anything
 * into these.
 */
export function readEntry(name: string): Answer<ReadUserMemoryOutput> {
  refuseReservedName(name);
  const { entry } = loadEntry(name);
  if (entry === null) throw entryNotFound(name);
  if ("unreadable" in entry) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read memory entry "${name}": ${entry.unreadable}`);
  }
  if (exceedsUtf8Bytes(entry.body, entryLimits.bodyBytesMax)) {
    throw new ToolError(
      "ENTRY_UNREADABLE",
      `Cannot read memory entry "${name}": its text is ${utf8Bytes(entry.body)} bytes, at most ${entryLimits.bodyBytesMax} allowed`,
    );
  }
  const { description, type, body } = entry;
  const [created, updated] = [seenTime(entry.created), seenTime(entry.updated)];
  return {
    message: `Memory entry "${name}"`,
    data: { name, description: shown(description), type, created, updated, body },
  };
}

const seenTime = (text: string | null): string | null => text && shown(text);
