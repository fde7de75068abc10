/** Parses JSON text into a tool's input. The error names each wrong field, its value and what is allowed. */
import type { InputIssue } from "../../shared/envelope.ts";
import { presentValue, quoted } from "../../shared/text.ts";
import type * as z from "../../shared/zod.ts";
import { check, isObject } from "./check-value.ts";
import type { Fault } from "./check-value.ts";
import { leniencyOf } from "./meant-value.ts";
import { inputRule } from "./schema-rule.ts";
import { inputError } from "./tool-error.ts";

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

/** Makes the parser of a tool's inputs, when the plugin is loaded. It keeps nothing of the schema. */
export function inputParser<Input>(rules: InputRules<Input>): InputParser<Input> {
  const { toolName, schema, codeOfField, otherFields = [], isExact = false } = rules;
  const rule = inputRule(toolName, schema);
  const leniency = leniencyOf(otherFields, isExact);
  return (text) => {
    const faults: Fault[] = [];
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      const issue = { field: "input", value: quoted(text), allowed: "a JSON object" };
      throw inputError(toolName, [issue], codeOfField?.(issue.field, undefined));
    }
    // A model that has nothing to say can send `null`.
    const input = check(rule, isExact ? value : (value ?? {}), faults, leniency);
    if (faults.length === 0) return input as Input;
    const issues = faults.slice(0, issuesShownMax).map((fault): InputIssue => {
      if (fault.path !== "")
        return { field: fault.path.slice(1), value: presentValue(fault.value), allowed: fault.allowed };
      // What is wrong as a whole is an object whose own test fails, or no object.
      const allowed = isObject(value) ? fault.allowed : "a JSON object";
      return { field: "input", value: presentValue(value), allowed };
    });
    throw inputError(toolName, issues, codeOfField?.(issues[0]?.field ?? "input", faults[0]?.value));
  };
}
