/** Parses JSON text into a tool's input. The error names each wrong field, its value and what is allowed. */
import type { InputIssue } from "../../shared/envelope.ts";
import { quoted } from "../../shared/text.ts";
import type * as z from "../../shared/zod.ts";
import { inputCheck } from "./input-check.ts";
import { inputError } from "./tool-error.ts";
import type { ToolError } from "./tool-error.ts";

/** More issues would not help the caller. */
const issuesShownMax = 8;

/**
 * The error code for an input whose first wrong field is `field`. A schema's issues are in the order of its fields.
 * Default: always `INPUT_INVALID`.
 */
export type CodeOfField = (field: string, value: unknown) => string;

export interface InputRules<Input> {
  readonly toolName: string;
  readonly schema: z.ZodMiniType<Input>;
  readonly codeOfField?: CodeOfField | undefined;
  /** Fields of the tool's other commands. They count as nothing if they are empty. */
  readonly otherFields?: readonly string[];
  /** Whether only programs call the tool. Default: no, and a wrong value is read as what a model can only mean. */
  readonly isExact?: boolean;
}

/** Parses a tool's input. Throws an error that names each wrong field. */
export type InputParser<Input> = (text: string) => Input;

/** Makes the parser of a tool's inputs, when the plugin is loaded. */
export function inputParser<Input>(rules: InputRules<Input>): InputParser<Input> {
  const { toolName, schema, codeOfField } = rules;
  const check = inputCheck(schema, rules);
  return (text) => {
    const value = parseJson({ toolName, codeOfField }, text);
    const checked = check(value);
    if ("input" in checked) return checked.input;
    throw refusal({ toolName, codeOfField }, checked.issues.slice(0, issuesShownMax), value);
  };
}

function parseJson(rules: Pick<InputRules<never>, "toolName" | "codeOfField">, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(rules, [{ field: "input", value: quoted(text), allowed: "a JSON object" }], undefined);
  }
}

/** The code is that of the first wrong field. */
function refusal(
  { toolName, codeOfField }: Pick<InputRules<never>, "toolName" | "codeOfField">,
  issues: readonly InputIssue[],
  input: unknown,
): ToolError {
  const first = issues[0]?.field ?? "input";
  return inputError(toolName, issues, codeOfField?.(first, ownProperty(input, first)));
}

const ownProperty = (value: unknown, key: string): unknown =>
  Object.getOwnPropertyDescriptor(Object(value), key)?.value;
