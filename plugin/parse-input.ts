/** JSON text to a tool's input, or an error that names each wrong field, its value and what is allowed. */
import type { InputIssue } from "../shared/envelope.ts";
import { hasLoneSurrogate, quoted, utf8Bytes } from "../shared/text.ts";
import * as z from "../shared/zod.ts";
import { ToolError } from "./tool-error.ts";

/** More would help nobody to mend the input. */
const issuesShownMax = 8;

/** What a tool's input must be: a schema, or how to choose one by looking at the value. */
export type InputSchema<Input> = z.ZodMiniType<Input> | ((value: unknown) => z.ZodMiniType<Input>);

/**
 * The code for an input whose first wrong field is this one, with this value. A schema's issues come in the order of its
 * fields. Default: `INPUT_INVALID`, whatever is wrong.
 */
export type CodeOfField = (field: string, value: unknown) => string;

export interface InputRules<Input> {
  readonly toolName: string;
  readonly schema: InputSchema<Input>;
  readonly codeOfField?: CodeOfField | undefined;
}

export function parseInput<Input>(rules: InputRules<Input>, text: string): Input {
  const { schema } = rules;
  const value = parseJson(rules, text);
  const parsed = z.safeParse(typeof schema === "function" ? schema(value) : schema, value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => inputIssues(issue, value)).slice(0, issuesShownMax);
  throw inputError(rules, issues, value);
}

/**
 * Parses an input for nothing. A schema sets itself up when it first parses; a family that rehearses while it is loaded
 * does that once in its build, and not in each call: an upsert spends 60 µs less.
 */
export function rehearseInput<Input>(schema: z.ZodMiniType<Input>, input: Input): void {
  z.safeParse(schema, input);
}

function parseJson(rules: Pick<InputRules<never>, "toolName" | "codeOfField">, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw inputError(rules, [{ field: "input", value: quoted(text), allowed: "a JSON object" }], undefined);
  }
}

/** The code is that of the first field that is wrong. */
function inputError(
  { toolName, codeOfField }: Pick<InputRules<never>, "toolName" | "codeOfField">,
  issues: readonly InputIssue[],
  input: unknown,
): ToolError {
  const parts = issues.map(({ field, value, allowed }) => `${field} is ${value}, allowed: ${allowed}`);
  const first = issues[0]?.field ?? "input";
  const code = codeOfField?.(first, ownProperty(input, first)) ?? "INPUT_INVALID";
  return new ToolError(code, `Cannot call ${toolName}: ${parts.join("; ")}`, issues);
}

interface SchemaIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  /** What the schema allows: the schemas' `error` texts are written so. */
  readonly message: string;
  readonly keys?: readonly string[];
}

function inputIssues(issue: SchemaIssue, input: unknown): InputIssue[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => ({
      field: fieldName(key),
      value: presentValue(ownProperty(input, key)),
      allowed: issue.message,
    }));
  }
  const [field] = issue.path;
  if (field === undefined) return [{ field: "input", value: presentValue(input), allowed: "a JSON object" }];
  return [{ field: String(field), value: presentValue(ownProperty(input, String(field))), allowed: issue.message }];
}

function ownProperty(value: unknown, key: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(value), key)?.value;
}

/** A key of the input is the caller's text, and quoted unless it is a plain word. */
const fieldName = (key: string): string => (/^\w{1,60}$/.test(key) ? key : quoted(key));

function presentValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value !== "string") return jsonOf(value);
  const size = value.length > 60 ? ` (${utf8Bytes(value)} UTF-8 bytes)` : "";
  return `${quoted(value)}${size}${hasLoneSurrogate(value) ? " with a lone surrogate" : ""}`;
}

function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
