/** Each format is what the SDK of its API takes, without a cast, and so is what a program makes of the descriptions. */
import type Anthropic from "@anthropic-ai/sdk";
import type { Tool } from "@modelcontextprotocol/client";
import type { Runtime, ToolDescription, ToolFormat } from "memcell";
import type OpenAI from "openai";

type ChatTool = OpenAI.Chat.Completions.ChatCompletionTool;

declare const runtime: Runtime;
declare const either: "anthropic" | "openai";
declare const any: ToolFormat;

export const described: ToolDescription[] = runtime.tools();
export const anthropic: Anthropic.Tool[] = runtime.tools({ format: "anthropic" });
export const anthropicBeta: Anthropic.Beta.BetaToolUnion[] = runtime.tools({ format: "anthropic" });
export const anthropicStrict: Anthropic.ToolUnion[] = runtime.tools({ format: "anthropic-strict" });
export const chat: ChatTool[] = runtime.tools({ format: "openai" });
export const chatStrict: ChatTool[] = runtime.tools({ format: "openai-strict" });
export const responses: OpenAI.Responses.Tool[] = runtime.tools({ format: "openai-responses" });
export const responsesStrict: OpenAI.Responses.Tool[] = runtime.tools({ format: "openai-responses-strict" });
export const one: (Anthropic.Tool | ChatTool)[] = runtime.tools({ format: either });
export const number: number = runtime.tools({ format: any }).length;

export const byHand: Anthropic.Tool[] = described.map(({ name, description, inputSchema }) => ({
  name,
  description,
  input_schema: inputSchema,
}));
export const functions: ChatTool[] = described.map(({ name, description, inputSchema: parameters }) => ({
  type: "function",
  function: { name, description, parameters },
}));
export const ofMcp: Tool[] = described.map(({ name, description, inputSchema, outputSchema }) => ({
  name,
  description,
  inputSchema,
  outputSchema,
}));

/** The tools are copies: the program can change them. */
export const someStrict: (Anthropic.Tool & { strict: boolean })[] = runtime.tools({ format: "anthropic-strict" });
for (const tool of someStrict) {
  tool.strict &&= tool.name !== "memory";
  tool.cache_control = { type: "ephemeral" };
}

// @ts-expect-error There is no such format.
runtime.tools({ format: "gemini" });
// @ts-expect-error The format is no option of its own.
runtime.tools("anthropic");
// @ts-expect-error The API of the one does not take the tools of the other.
export const wrongApi: Anthropic.Tool[] = runtime.tools({ format: "openai" });
// @ts-expect-error Chat Completions has the function in a field of its own.
export const wrongForm: ChatTool[] = runtime.tools({ format: "openai-responses" });
// @ts-expect-error A description says nothing about strict.
export const strict: boolean = described[0]?.strict;
