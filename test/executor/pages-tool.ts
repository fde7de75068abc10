/** The function with which a model requests a tool's page. It belongs to the executor. */
import type { AnthropicTool } from "memcell";

export const pagesTool = "describe_tool";

export const definitionOfPages: AnthropicTool = {
  name: pagesTool,
  description: "Gives a tool's page: what it is for, each parameter, examples. Ask for it when a call was refused.",
  input_schema: {
    type: "object",
    properties: { name: { type: "string", description: "The tool's name" } },
    required: ["name"],
    additionalProperties: false,
  },
};
