import { quoted } from "../../shared/text.ts";
import { ToolError } from "../kit/tool-error.ts";
import type { JournalFiles } from "./journal-files.ts";

export function keyNotFound(verb: "read" | "update", key: string, files: JournalFiles): ToolError {
  const hint = verb === "read" ? "memory_search finds keys" : "memory_write creates one";
  return new ToolError(
    "MEMORY_KEY_NOT_FOUND",
    `Cannot ${verb} memory ${quoted(key)}: no block has this key; ${hint}${files.unreadableNote()}`,
  );
}
