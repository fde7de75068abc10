import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";

import { claudesTool, requireStores } from "../require-stores.ts";
import { runMemoryCommand } from "./memory-command.ts";
import type { MemoryToolRuntime } from "./memory-command.ts";

/**
 * Returns handlers for `betaMemoryTool` of `@anthropic-ai/sdk`, which keep the model's memory in the store of
 * `ctx.userId`. Safe for any number of calls at once.
 *
 * Behind the text of a file stands where it comes from, unless the user has written or approved it. What waits for the
 * user's approval is answered as a suggestion.
 *
 * A failed command throws an `Error`, so that the SDK sets `is_error` in the tool's result. Its `cause` is the error of
 * the call, with its code. Throws an `Error` at once if the plugin `stores` is not loaded: the model could not help that.
 *
 * @example
 * const tool = betaMemoryTool(memoryTool(runtime, { userId: "alice" }));
 * const runner = client.beta.messages.toolRunner({ model, max_tokens: 1024, messages, tools: [tool] });
 *
 * @param ctx The context of every call, as for `runtime.call`. The user comes from your authentication.
 */
export function memoryTool<Context extends object>(
  runtime: MemoryToolRuntime<Context>,
  ctx: Context,
): MemoryToolHandlers {
  requireStores(runtime, claudesTool);
  const fixed = { ...ctx };
  const run = (command: object): Promise<string> => runMemoryCommand(runtime, command, fixed);
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run };
}
