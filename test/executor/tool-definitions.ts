/** Converts a runtime's tools for function-calling APIs. Each shape is one small pure function. */
import type { ToolDescription } from "memcell";

type Schema = Readonly<Record<string, unknown>>;

/** `{ name, description, input_schema }`. */
export interface InputSchemaDefinition {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Schema;
}

/** `{ type: "function", function: { name, description, parameters, strict } }`. */
export interface FunctionDefinition {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Schema;
    /** Whether the API can enforce the schema while the model writes. It can if every property is required. */
    readonly strict: boolean;
  };
}

export function definitionsWithInputSchema(tools: readonly ToolDescription[]): InputSchemaDefinition[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
}

export function definitionsOfFunctions(tools: readonly ToolDescription[]): FunctionDefinition[] {
  return tools.map(({ name, description, inputSchema: parameters }) => ({
    type: "function",
    function: { name, description, parameters, strict: isStrict(parameters) },
  }));
}

/** For tools whose input is an object of plain properties, as all tools of the package have. */
function isStrict({ properties, required, additionalProperties }: Schema): boolean {
  const names = Object.keys(properties ?? {});
  return additionalProperties === false && names.every((name) => Array.isArray(required) && required.includes(name));
}

/** The function with which a model requests a tool's page. It belongs to the executor. */
export const pagesTool = "describe_tool";

export const definitionOfPages: InputSchemaDefinition = {
  name: pagesTool,
  description: "Gives a tool's page: what it is for, each parameter, examples. Ask for it when a call was refused.",
  input_schema: {
    type: "object",
    properties: { name: { type: "string", description: "The tool's name" } },
    required: ["name"],
    additionalProperties: false,
  },
};
