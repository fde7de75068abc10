import { modelAnswer } from "../model-answer.ts";
import type { AnsweredCall } from "../model-answer.ts";
import { contextOf, derivingFrom } from "./call-context.ts";
import type { CallOptions, ContextOf, ToolOptions } from "./call-context.ts";

/** What the tools need of a runtime. memcell's `Runtime` has it. */
export interface ToolsRuntime<Context> {
  tools(): readonly { readonly name: string; readonly description: string; readonly inputSchema: object }[];
  call(tool: string, input: unknown, ctx: Context): Promise<AnsweredCall>;
}

/** A tool of the AI SDK, and of Mastra. */
export interface MemcellTool {
  readonly description: string;
  /** A Standard Schema with its JSON Schema. Mastra takes it, but its types have no such schemas. */
  // oxlint-disable-next-line typescript/no-explicit-any -- so that it fits the types of all these SDKs
  readonly inputSchema: any;
  readonly execute: (input: unknown, options: CallOptions) => Promise<AnsweredCall>;
  /** The AI SDK passes the result as `output`, Mastra passes it alone. */
  readonly toModelOutput: (of: unknown) => ModelOutput;
}

interface ModelOutput {
  readonly type: "text" | "error-text";
  readonly value: string;
}

/** https://standardschema.dev, with a JSON Schema. */
interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "memcell";
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: Record<"input" | "output", () => Record<string, unknown>>;
  };
}

/**
 * Returns the runtime's tools for `tools` of `generateText`, `streamText` and agents of the AI SDK (6 or later), and of
 * Mastra. Each call is made for the user of the context, with the model's call id and the SDK's signal.
 *
 * The origin of each call is derived from the messages that the model was sent. After a result of a tool that is not in
 * `ownTools`, after a file of the user, and after memory that comes from such a place, a write waits for the user's
 * approval, unless the policy says otherwise. If the context has an `origin` or `exposedTo`, that counts instead.
 *
 * The AI SDK does not tell a tool what a provider's own tool, such as its web search, has returned in the same step: for
 * these, see `exposureMiddleware`. Mastra does not tell what any other tool has returned, so there every write waits unless
 * the model has that middleware, or the context has `exposedTo`.
 *
 * A failure is a result, not an exception: the model reads it and can correct its call. Its codes are those of
 * `runtime.call`. A write that waits is told as a suggestion.
 *
 * @example
 * const { text } = await generateText({ model, prompt, tools: memcellTools(runtime, { userId: "alice" }) });
 *
 * @example
 * const tools = memcellTools(runtime, ({ context }) => ({ userId: context.userId })); // one agent for all users
 *
 * @param ctx The context of every call, as for `runtime.call`. The user comes from your authentication.
 */
export function memcellTools<Context extends object>(
  runtime: ToolsRuntime<Context>,
  ctx: ContextOf<Context>,
  options: ToolOptions = {},
): Record<string, MemcellTool> {
  const tools = runtime.tools();
  const deriving = derivingFrom(tools, options);
  const toolOf = ({ name, description, inputSchema }: (typeof tools)[number]): MemcellTool => ({
    description,
    inputSchema: standardSchema(inputSchema),
    execute: async (input, call) => runtime.call(name, input, await contextOf(ctx, call, deriving)),
    toModelOutput,
  });
  return Object.fromEntries(tools.map((tool) => [tool.name, toolOf(tool)]));
}

function toModelOutput(of: unknown): ModelOutput {
  const { text, isError } = modelAnswer(resultIn(of));
  return { type: isError ? "error-text" : "text", value: text };
}

function resultIn(of: unknown): AnsweredCall {
  const given = of as AnsweredCall | { readonly output: AnsweredCall };
  return "output" in given ? given.output : given;
}

/** The tool checks its input itself, and its message says what is allowed. */
function standardSchema(schema: object): StandardSchema {
  const input = (): Record<string, unknown> => structuredClone(schema) as Record<string, unknown>;
  return { "~standard": { version: 1, vendor: "memcell", validate: take, jsonSchema: { input, output: input } } };
}

const take = (value: unknown): { readonly value: unknown } => ({ value });
