/**
 * A schema as one plain function, made when the plugin is loaded. It does what zod's own parser does, with the same
 * issues, in a quarter of the guest's time. Afterwards nothing needs zod's code, so the snapshot does not have it: it
 * would be a tenth of every instance.
 *
 * Only for the kinds of schemas that most inputs have: an object without other fields, of texts, choices, lists and
 * values that a function checks.
 */
import type { InputIssue } from "../shared/envelope.ts";
import { presentValue, quoted } from "../shared/text.ts";
import type * as z from "../shared/zod.ts";
import { allowedBy, fieldCheck, OtherKind, sayingNothing } from "./field-check.ts";
import type { Schema } from "./field-check.ts";

export type Checked<Input> = { readonly input: Input } | { readonly issues: readonly InputIssue[] };
export type InputCheck<Input> = (value: unknown) => Checked<Input>;

/**
 * Returns `null` for a schema of another kind. `otherFields` are fields of the tool's other commands: `null` there
 * counts as nothing, as for an optional field that cannot be `null`.
 */
export function inputCheck<Input>(
  schema: z.ZodMiniType<Input>,
  otherFields: readonly string[] = [],
): InputCheck<Input> | null {
  try {
    return rootCheck(schema as unknown as Schema, otherFields) as InputCheck<Input>;
  } catch (error) {
    if (error instanceof OtherKind) return null;
    throw error;
  }
}

/** One of several objects, or one object. */
function rootCheck(schema: Schema, otherFields: readonly string[]): InputCheck<unknown> {
  const { type, discriminator, options, error } = schema._zod.def;
  if (type !== "union" || discriminator === undefined || !options) return objectCheck(schema, otherFields);
  const checks = new Map<unknown, InputCheck<unknown>>();
  for (const option of options) {
    const check = objectCheck(option, otherFields);
    for (const value of option._zod.def.shape?.[discriminator]?._zod.def.values ?? []) checks.set(value, check);
  }
  return (value) => {
    if (!isObject(value)) return noObject(value);
    const check = checks.get(value[discriminator]);
    return check ? check(value) : { issues: [fieldIssue(value, discriminator, allowedBy(error, value))] };
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const noObject = (value: unknown): Checked<never> => ({
  issues: [{ field: "input", value: presentValue(value), allowed: "a JSON object" }],
});

function fieldIssue(input: Record<string, unknown>, field: string, allowed: string): InputIssue {
  return { field, value: presentValue(Object.hasOwn(input, field) ? input[field] : undefined), allowed };
}

/** The result has the fields in the schema's order, as zod's has. */
function objectCheck({ _zod }: Schema, otherFields: readonly string[]): InputCheck<unknown> {
  const { type, shape, catchall, checks, error } = _zod.def;
  if (type !== "object" || !shape || catchall?._zod.def.type !== "never" || checks?.length) throw new OtherKind();
  const declared = Object.keys(shape);
  const fields = Object.entries(shape).map(([name, field]) => ({
    name,
    check: fieldCheck(field._zod.def),
    isOptional: field._zod.optin === "optional",
  }));
  return (value) => {
    if (!isObject(value)) return noObject(value);
    const input: Record<string, unknown> = {};
    const issues: InputIssue[] = [];
    let known = 0;
    for (const { name, check, isOptional } of fields) {
      const isPresent = Object.hasOwn(value, name);
      if (isPresent) known++;
      else if (isOptional) continue;
      const wrong: string[] = [];
      const checked = check(value[name], wrong);
      if (!isPresent && wrong.length === 0) wrong.push(sayingNothing);
      if (wrong.length === 0) input[name] = checked;
      else if (value[name] !== null || !isOptional) issues.push(...wrong.map((each) => fieldIssue(value, name, each)));
    }
    const names = Object.keys(value);
    for (const name of names.length > known ? names : []) {
      if (declared.includes(name) || (value[name] === null && otherFields.includes(name))) continue;
      issues.push({ ...fieldIssue(value, name, allowedBy(error, value)), field: fieldName(name) });
    }
    return issues.length > 0 ? { issues } : { input };
  };
}

/** The caller chose the name, so it is quoted unless it is a plain word. */
export const fieldName = (name: string): string => (/^\w{1,60}$/.test(name) ? name : quoted(name));
