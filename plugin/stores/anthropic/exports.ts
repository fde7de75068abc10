/** The exports of Anthropic's memory tool: one function for each command. Wiring only. */
import type * as z from "../../../shared/zod.ts";
import { serveWithCodes } from "../../kit/serve-tool.ts";
import type { Answer } from "../../kit/serve-tool.ts";
import { createFile, deletePath, renamePath } from "./change-path.ts";
import { insertText, replaceText } from "./edit-text.ts";
import { createInput, deleteInput, insertInput, renameInput, replaceInput, viewInput } from "./schemas.ts";
import { viewPath } from "./view-path.ts";

const otherFields = "path view_range file_text old_str new_str insert_line insert_text old_path new_path".split(" ");

function serveCommand<Input, Data>(schema: z.ZodMiniType<Input>, work: (input: Input) => Answer<Data>): () => number {
  return serveWithCodes({ toolName: "AnthropicMemory", schema, otherFields }, work);
}

export const anthropic_view = serveCommand(viewInput, viewPath);

export const anthropic_create = serveCommand(createInput, createFile);

export const anthropic_str_replace = serveCommand(replaceInput, replaceText);

export const anthropic_insert = serveCommand(insertInput, insertText);

export const anthropic_delete = serveCommand(deleteInput, deletePath);

export const anthropic_rename = serveCommand(renameInput, renamePath);
