import { runMemoryCommand } from "../anthropic/memory-command.ts";
import type { MemoryToolRuntime } from "../anthropic/memory-command.ts";
import { claudesTool, requireStores } from "../require-stores.ts";
import { contextOf, derivingFrom } from "./call-context.ts";
import type { CallOptions, ContextOf, ToolOptions } from "./call-context.ts";
import type { ToolsRuntime } from "./memcell-tools.ts";

/**
 * Returns `execute` for Claude's own memory tool in the AI SDK, which keeps the model's memory in the store of the user.
 * Context, origins and `options` as for `memcellTools`. `memcell/anthropic` says what Claude can do with the files.
 *
 * A failed command throws an `Error`, which the AI SDK passes to the model. Throws an `Error` at once if the plugin
 * `stores` is not loaded.
 *
 * @example
 * const memory = anthropic.tools.memory_20250818({ execute: claudeMemory(runtime, { userId: "alice" }) });
 * const { text } = await generateText({ model, prompt, tools: { memory } });
 */
export function claudeMemory<Context extends object>(
  runtime: MemoryToolRuntime<Context> & Pick<ToolsRuntime<Context>, "tools">,
  ctx: ContextOf<Context>,
  options: ToolOptions = {},
): (command: object, call: CallOptions) => Promise<string> {
  requireStores(runtime, claudesTool);
  const deriving = derivingFrom(runtime.tools(), options);
  return async (command, call) => runMemoryCommand(runtime, command, await contextOf(ctx, call, deriving));
}
