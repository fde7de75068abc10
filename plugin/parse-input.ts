/** Parses JSON text into a tool's input. The error names each wrong field, its value and what is allowed. */
import type { InputIssue } from "../shared/envelope.ts";
import { presentValue, quoted } from "../shared/text.ts";
import * as z from "../shared/zod.ts";
import { fieldName, inputCheck } from "./input-check.ts";
import type { InputCheck } from "./input-check.ts";
import { leaveOutNulls } from "./leave-out-nulls.ts";
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
  /** Fields of the tool's other commands. `null` there counts as nothing, as for an optional field. */
  readonly otherFields?: readonly string[] | undefined;
}

/** Parses a tool's input. Throws an error that names each wrong field. */
export type InputParser<Input> = (text: string) => Input;

/** Makes the parser of a tool's inputs, when the plugin is loaded. `null` for an optional field counts as nothing. */
export function inputParser<Input>(rules: InputRules<Input>): InputParser<Input> {
  const { toolName, schema, codeOfField, otherFields } = rules;
  const check = inputCheck(schema, otherFields) ?? schemaCheck(schema, otherFields);
  return (text) => {
    const value = parseJson({ toolName, codeOfField }, text);
    const checked = check(value);
    if ("input" in checked) return checked.input;
    throw refusal({ toolName, codeOfField }, checked.issues.slice(0, issuesShownMax), value);
  };
}

/** The check of a schema by its own parser. */
function schemaCheck<Input>(schema: z.ZodMiniType<Input>, otherFields: readonly string[] = []): InputCheck<Input> {
  return (value) => {
    let parsed = z.safeParse(schema, value);
    if (!parsed.success && leaveOutNulls(value, parsed.error.issues, { schema, otherFields }))
      parsed = z.safeParse(schema, value);
    if (parsed.success) return { input: parsed.data };
    return { issues: parsed.error.issues.flatMap((issue) => inputIssues(issue, value)) };
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

interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  /** What the schema allows: the text of its `error`. */
  readonly message: string;
  readonly keys?: readonly string[];
}

function inputIssues(issue: SchemaIssue, input: unknown): InputIssue[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => ({
      field: fieldName(key),
      value: presentValue(ownProperty(issue.path.reduce(ownProperty, input), key)),
      allowed: issue.message,
    }));
  }
  const [field] = issue.path;
  if (field === undefined) return [{ field: "input", value: presentValue(input), allowed: "a JSON object" }];
  return [{ field: String(field), value: presentValue(ownProperty(input, String(field))), allowed: issue.message }];
}

function ownProperty(value: unknown, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(Object(value), key)?.value;
}
