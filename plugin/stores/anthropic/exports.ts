/** The exports of Anthropic's memory tool: one function for each command. Wiring only. */
import { serveTool } from "../../serve-tool.ts";
import { createFile } from "./create-file.ts";
import { deletePath } from "./delete-path.ts";
import { insertText } from "./insert-text.ts";
import { renamePath } from "./rename-path.ts";
import { replaceText } from "./replace-text.ts";
import { createInput, deleteInput, insertInput, renameInput, replaceInput, viewInput } from "./schemas.ts";
import { viewPath } from "./view-path.ts";

export const anthropic_view = serveTool("AnthropicMemory", viewInput, viewPath);

export const anthropic_create = serveTool("AnthropicMemory", createInput, createFile);

export const anthropic_str_replace = serveTool("AnthropicMemory", replaceInput, replaceText);

export const anthropic_insert = serveTool("AnthropicMemory", insertInput, insertText);

export const anthropic_delete = serveTool("AnthropicMemory", deleteInput, deletePath);

export const anthropic_rename = serveTool("AnthropicMemory", renameInput, renamePath);
