/**
 * A schema as one plain function, made when the plugin is loaded. It does what zod's own parser does, with the same
 * issues, in a quarter of the guest's time. Afterwards nothing needs zod's code, so the snapshot does not have it: it
 * would be a tenth of every instance.
 *
 * Only for the kind of schema that most inputs have: an object without other fields, of texts, choices, lists and values
 * that a function checks.
 */
import type { InputIssue } from "../../shared/envelope.ts";
import { presentValue, quoted } from "../../shared/text.ts";
import { allowedIn, allowedText, checkField, fieldRule, meantBy, OtherKind, sayingNothing } from "./field-check.ts";
import type { FieldRule, Schema } from "./field-check.ts";
import { isUnused, saysNothing } from "./meant-value.ts";
import type { Leniency } from "./meant-value.ts";

export type Checked<Input> = { readonly input: Input } | { readonly issues: readonly InputIssue[] };
export type InputCheck<Input> = (value: unknown) => Checked<Input>;

/** Returns `null` for a schema of another kind. */
export function objectCheck(schema: Schema, leniency: Leniency): InputCheck<unknown> | null {
  try {
    return fieldsCheck(schema, leniency);
  } catch (error) {
    if (error instanceof OtherKind) return null;
    throw error;
  }
}

/** The result has the fields in the schema's order, as zod's has. */
function fieldsCheck({ _zod }: Schema, leniency: Leniency): InputCheck<unknown> {
  const { type, shape, catchall, checks } = _zod.def;
  if (type !== "object" || !shape || catchall?._zod.def.type !== "never" || checks?.length) throw new OtherKind();
  const declared = Object.keys(shape);
  const rules = Object.values(shape).map(fieldRule);
  const othersAllowed = allowedIn(_zod.def);
  return (value) => {
    if (!isObject(value)) return noObject(value);
    const input: Record<string, unknown> = {};
    const issues: InputIssue[] = [];
    let wrong: string[] = [];
    let known = 0;
    for (let at = 0; at < declared.length; at++) {
      const name = declared[at] as string;
      const rule = rules[at] as FieldRule;
      const isPresent = Object.hasOwn(value, name);
      if (isPresent) known++;
      else if (rule.mayMiss) continue;
      let given = value[name];
      let checked = checkField(rule, given, wrong);
      if (wrong.length > 0 && !leniency.isExact) {
        given = meantBy(rule, given);
        checked = checkField(rule, given, (wrong = []));
      }
      if (!isPresent && wrong.length === 0) wrong.push(sayingNothing);
      if (wrong.length === 0) {
        input[name] = checked;
        continue;
      }
      if (!rule.mayMiss || !saysNothing(name, given, leniency))
        issues.push(...wrong.map((allowed) => ({ field: name, value: presentValue(given), allowed })));
      wrong = [];
    }
    const names = Object.keys(value);
    for (const name of names.length > known ? names : []) {
      if (declared.includes(name) || isUnused(name, value[name], leniency)) continue;
      issues.push({ ...fieldIssue(value, name, allowedText(othersAllowed, value)), field: fieldName(name) });
    }
    return issues.length > 0 ? { issues } : { input };
  };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const noObject = (value: unknown): Checked<never> => ({
  issues: [{ field: "input", value: presentValue(value), allowed: "a JSON object" }],
});

export function fieldIssue(input: Record<string, unknown>, field: string, allowed: string): InputIssue {
  return { field, value: presentValue(Object.hasOwn(input, field) ? input[field] : undefined), allowed };
}

/** The caller chose the name, so it is quoted unless it is a plain word. */
export const fieldName = (name: string): string => (/^\w{1,60}$/.test(name) ? name : quoted(name));
