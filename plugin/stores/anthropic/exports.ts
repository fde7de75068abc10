/** The exports of Anthropic's memory tool: one function for each command. Wiring only. */
import { serveTool } from "../../serve-tool.ts";
import { createFile } from "./create-file.ts";
import { deletePath } from "./delete-path.ts";
import { insertText } from "./insert-text.ts";
import { renamePath } from "./rename-path.ts";
import { replaceText } from "./replace-text.ts";
import { createInput, deleteInput, insertInput, renameInput, replaceInput, viewInput } from "./schemas.ts";
import { viewPath } from "./view-path.ts";

export function anthropic_view(): number {
  return serveTool("AnthropicMemory", viewInput, viewPath);
}

export function anthropic_create(): number {
  return serveTool("AnthropicMemory", createInput, createFile);
}

export function anthropic_str_replace(): number {
  return serveTool("AnthropicMemory", replaceInput, replaceText);
}

export function anthropic_insert(): number {
  return serveTool("AnthropicMemory", insertInput, insertText);
}

export function anthropic_delete(): number {
  return serveTool("AnthropicMemory", deleteInput, deletePath);
}

export function anthropic_rename(): number {
  return serveTool("AnthropicMemory", renameInput, renamePath);
}
