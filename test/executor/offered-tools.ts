/** The tools of a runtime in a format, with what all formats have in common. */
import type { ObjectSchema, Runtime, ToolFormat } from "memcell";

export const formats = [
  "anthropic",
  "anthropic-strict",
  "openai",
  "openai-strict",
  "openai-responses",
  "openai-responses-strict",
] as const satisfies readonly ToolFormat[];

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: ObjectSchema;
  /** Whether the API is told to hold the model to the schema. */
  readonly strict: boolean | undefined;
}

/** A tool in any format. */
interface FormattedTool {
  readonly name?: string;
  readonly description?: string;
  readonly strict?: boolean;
  readonly input_schema?: ObjectSchema;
  readonly parameters?: ObjectSchema;
  readonly function?: FormattedTool;
}

export function offeredIn(format: ToolFormat, runtime: Runtime): OfferedTool[] {
  return runtime.tools({ format }).map((tool: FormattedTool) => {
    const { name, description, strict, input_schema: ofAnthropic, parameters } = tool.function ?? tool;
    const schema = ofAnthropic ?? parameters;
    if (name === undefined || description === undefined || schema === undefined)
      throw new Error(`A tool in the format ${format} has no name, description or schema`);
    return { name, description, strict, schema };
  });
}
