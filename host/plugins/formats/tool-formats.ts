/** The forms in which function-calling APIs take tools. */
import { presentValue, quoted } from "../../../shared/text.ts";
import { refuseOthers } from "../../values/known-fields.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { ObjectSchema, ToolDescription } from "../tool-description.ts";
import { plainSchema } from "./plain-schema.ts";
import { anthropicDialect, openaiDialect } from "./strict-dialects.ts";
import type { StrictDialect } from "./strict-dialects.ts";
import { strictSchema } from "./strict-schema.ts";

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: ObjectSchema;
}

/** A tool of OpenAI's Chat Completions API, and of the many servers that are compatible with it. */
export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
}

/** A tool of OpenAI's Responses API, where strict mode is the default. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: boolean;
}

/** Whether the API holds the model to the schema: not if the schema cannot be said in the API's strict form. */
interface WithStrict {
  strict: boolean;
}

/** The formats of `runtime.tools({ format })`, and a tool in each. */
export interface ToolFormats {
  anthropic: AnthropicTool;
  "anthropic-strict": AnthropicTool & WithStrict;
  openai: OpenAiChatTool;
  "openai-strict": OpenAiChatTool & { function: WithStrict };
  "openai-responses": OpenAiResponsesTool;
  "openai-responses-strict": OpenAiResponsesTool;
}

export type ToolFormat = keyof ToolFormats;

const formats: { readonly [Format in ToolFormat]: (tool: ToolDescription) => ToolFormats[Format] } = {
  anthropic: ({ name, description, inputSchema }) => ({ name, description, input_schema: plainSchema(inputSchema) }),
  "anthropic-strict": ({ name, description, inputSchema }) => {
    const { schema, strict } = strictOrPlain(inputSchema, anthropicDialect);
    return { name, description, input_schema: schema, strict };
  },
  openai: ({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: plainSchema(inputSchema) },
  }),
  "openai-strict": ({ name, description, inputSchema }) => {
    const { schema: parameters, strict } = strictOrPlain(inputSchema, openaiDialect);
    return { type: "function", function: { name, description, parameters, strict } };
  },
  "openai-responses": ({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    parameters: plainSchema(inputSchema),
    strict: false,
  }),
  "openai-responses-strict": ({ name, description, inputSchema }) => {
    const { schema: parameters, strict } = strictOrPlain(inputSchema, openaiDialect);
    return { type: "function", name, description, parameters, strict };
  },
};

/** What `runtime.tools` returns for its options. Throws `INPUT_INVALID`. Callers without types can pass anything. */
export function toolsIn(
  options: { readonly format?: ToolFormat },
  tools: ToolDescription[],
): ToolDescription[] | ToolFormats[ToolFormat][] {
  const action = "list the tools";
  refuseOthers(action, options, { format: true });
  const { format } = options;
  if (format === undefined) return tools;
  if (typeof format === "string" && Object.hasOwn(formats, format)) return tools.map((tool) => formats[format](tool));
  const allowed = Object.keys(formats)
    .map((name) => quoted(name))
    .join(", ");
  throw new ToolError("INPUT_INVALID", `Cannot ${action}: format is ${presentValue(format)}, allowed: ${allowed}`);
}

function strictOrPlain(input: ObjectSchema, dialect: StrictDialect): { schema: ObjectSchema; strict: boolean } {
  const schema = strictSchema(input, dialect);
  return schema === null ? { schema: plainSchema(input), strict: false } : { schema, strict: true };
}
