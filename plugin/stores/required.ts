import { presentValue } from "../../shared/text.ts";
import { ToolError } from "../kit/tool-error.ts";

/**
 * The value of a field that can have another name, or `undefined`. A name beside it that says nothing, or the same, does
 * not count. Throws `INPUT_INVALID` for two values.
 */
export function eitherOf<Value>(values: Readonly<Record<string, Value | undefined>>): Value | undefined {
  const given = Object.values(values).filter((value) => value !== undefined);
  const said = new Set(given.filter((value) => value !== null && value !== ""));
  if (said.size < 2) return [...said, ...given][0];
  throw new ToolError("INPUT_INVALID", `${Object.keys(values).join(" and ")} are the same field: send one of them`);
}

/** Throws `INPUT_INVALID` with a whole sentence, as the callers of this family's reference know it. */
export function required<Value>(value: Value | undefined, field: string, message: string): Value {
  if (value !== undefined) return value;
  const issues = [{ field, value: presentValue(value), allowed: "required for this command" }];
  throw new ToolError("INPUT_INVALID", message, issues);
}
