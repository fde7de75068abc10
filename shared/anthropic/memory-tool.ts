import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";

import type { EntryOrigin } from "../entry-origin.ts";
import { originLines } from "../origin-lines.ts";

/** What `memoryTool` needs of a runtime. memcell's `Runtime` has it. */
export interface MemoryToolRuntime<Context> {
  families(): readonly { readonly name: string }[];
  callAsHost(tool: string, input: unknown, ctx: Context): Promise<CallResult>;
}

type CallResult =
  | { readonly ok: true; readonly message: string; readonly origins?: readonly EntryOrigin[] }
  | { readonly ok: false; readonly error: { readonly message: string } };

/**
 * Returns handlers for `betaMemoryTool` of `@anthropic-ai/sdk`, which keep the model's memory in the store of
 * `ctx.userId`. Safe for any number of calls at once.
 *
 * Behind the text of a file stands where it comes from, unless the user has written or approved it.
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
  if (!runtime.families().some(({ name }) => name === family)) throw new Error(notLoaded);
  const fixed = { ...ctx };
  const run = async (command: object): Promise<string> => {
    const result = await runtime.callAsHost(`${family}/AnthropicMemory`, command, fixed);
    if (result.ok) return result.origins ? `${result.message}\n\n${originLines(result.origins)}` : result.message;
    // Anthropic's documentation begins some messages with "Error: ". The SDK puts that before every message.
    throw new Error(result.error.message.replace(/^Error: /, ""), { cause: result.error });
  };
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run };
}

const family = "stores";

const notLoaded =
  `Cannot make Claude's memory tool: the plugin "${family}" is not loaded, ` +
  `add "${family}" to the option plugins of createRuntime`;
