/** Which items a search wants, by the fields of their values. */
import { quoted } from "../../../shared/text.ts";
import { ToolError } from "../../kit/tool-error.ts";

/** Each field with the value that it has, or with conditions that it meets. */
export type ItemFilter = Readonly<Record<string, unknown>>;

type Condition = (value: unknown, operand: unknown) => boolean;

const conditions: Readonly<Record<string, Condition>> = {
  $eq: (value, operand) => isEqual(value, operand),
  $ne: (value, operand) => !isEqual(value, operand),
  $gt: (value, operand) => compared(value, operand, (difference) => difference > 0),
  $gte: (value, operand) => compared(value, operand, (difference) => difference >= 0),
  $lt: (value, operand) => compared(value, operand, (difference) => difference < 0),
  $lte: (value, operand) => compared(value, operand, (difference) => difference <= 0),
  $in: (value, operand) => Array.isArray(operand) && operand.some((each) => isEqual(value, each)),
  $nin: (value, operand) => !Array.isArray(operand) || !operand.some((each) => isEqual(value, each)),
};

const allowed = `a value, or conditions: ${Object.keys(conditions).join(", ")}`;

/** Throws `INPUT_INVALID` for a condition that there is not: it would match nothing, or everything. */
export function checkFilter(filter: unknown, field: string): ItemFilter {
  if (!isObject(filter)) throw wrong(field, filter, "an object of fields");
  for (const [name, wanted] of Object.entries(filter)) {
    if (!isObject(wanted)) continue;
    const unknown = Object.keys(wanted).find((key) => key.startsWith("$") && !Object.hasOwn(conditions, key));
    if (unknown !== undefined) throw wrong(`${field}.${name}`, unknown, allowed);
  }
  return filter;
}

export function matches(value: unknown, filter: ItemFilter): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (!isConditions(wanted)) return isEqual(found, wanted);
    return Object.entries(wanted).every(([condition, operand]) => conditions[condition]?.(found, operand));
  });
}

/** An object of conditions alone. Any other object is a value. */
const isConditions = (wanted: unknown): wanted is Record<string, unknown> =>
  isObject(wanted) && Object.keys(wanted).every((key) => Object.hasOwn(conditions, key));

/** By what they are as numbers; two texts that are none by their characters, as times of ISO 8601 are. */
function compared(value: unknown, operand: unknown, holds: (difference: number) => boolean): boolean {
  const [one, other] = [Number(value), Number(operand)];
  const isText = [value, operand].every((each) => typeof each === "string" && Number.isNaN(Number(each)));
  if (isText) return holds((value as string) < (operand as string) ? -1 : Number(value !== operand));
  return !Number.isNaN(one) && !Number.isNaN(other) && holds(one === other ? 0 : one - other);
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, at) => isEqual(each, other[at]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
  );
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function wrong(field: string, given: unknown, expected: string): ToolError {
  const value = quoted(typeof given === "string" ? given : (JSON.stringify(given) ?? "nothing"));
  return new ToolError("INPUT_INVALID", `${field} is ${value}; expected ${expected}`, [
    { field, value, allowed: expected },
  ]);
}
