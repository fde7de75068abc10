import { presentValue } from "../../shared/text.ts";
import { ToolError } from "../tool-error.ts";

/** Throws `INPUT_INVALID` with a whole sentence, as the callers of this family's reference know it. */
export function required<Value>(value: Value | undefined, field: string, message: string): Value {
  if (value !== undefined) return value;
  const issues = [{ field, value: presentValue(value), allowed: "required for this command" }];
  throw new ToolError("INPUT_INVALID", message, issues);
}
