/** One command of Claude's memory tool, on the store of a user. */
import { modelAnswer } from "../model-answer.ts";
import type { AnsweredCall } from "../model-answer.ts";
import { originLines } from "../origin-lines.ts";

/** What Claude's memory tool needs of a runtime. memcell's `Runtime` has it. */
export interface MemoryToolRuntime<Context> {
  families(): readonly { readonly name: string }[];
  callAsHost(tool: string, input: unknown, ctx: Context): Promise<AnsweredCall>;
}

/**
 * Returns the answer for the model. A failed command throws an `Error`, whose `cause` is the error of the call with its
 * code. A command that waits for the user's approval has not failed.
 */
export async function runMemoryCommand<Context>(
  runtime: MemoryToolRuntime<Context>,
  command: object,
  ctx: Context,
): Promise<string> {
  const result = await runtime.callAsHost("stores/AnthropicMemory", command, ctx);
  if (result.ok) return result.origins ? `${result.message}\n\n${originLines(result.origins)}` : result.message;
  const { text, isError } = modelAnswer(result);
  if (!isError) return text;
  // Anthropic's documentation begins some messages with "Error: ". The SDKs put that before every message.
  throw new Error(result.error.message.replace(/^Error: /, ""), { cause: result.error });
}
