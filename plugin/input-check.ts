/** The check of a tool's input, made from its schema when the plugin is loaded. */
import type * as z from "../shared/zod.ts";
import { allowedIn, allowedText } from "./field-check.ts";
import type { Schema } from "./field-check.ts";
import { fieldIssue, isObject, noObject, objectCheck } from "./object-check.ts";
import type { InputCheck } from "./object-check.ts";
import { schemaCheck } from "./schema-check.ts";

/**
 * `null` for an optional field that cannot be `null` counts as nothing, and so does `null` for one of `otherFields`, the
 * fields of the tool's other commands.
 */
export function inputCheck<Input>(
  schema: z.ZodMiniType<Input>,
  otherFields: readonly string[] = [],
): InputCheck<Input> {
  const { def } = (schema as unknown as Schema)._zod;
  const { type, discriminator, options } = def;
  if (type !== "union" || discriminator === undefined || !options)
    return anyCheck(schema, otherFields) as InputCheck<Input>;
  const allowed = allowedIn(def);
  const checks = new Map<unknown, InputCheck<unknown>>();
  for (const option of options) {
    const check = anyCheck(option as unknown as z.ZodMiniType, otherFields);
    for (const value of option._zod.def.shape?.[discriminator]?._zod.def.values ?? []) checks.set(value, check);
  }
  return ((value) => {
    if (!isObject(value)) return noObject(value);
    const check = checks.get(value[discriminator]);
    return check ? check(value) : { issues: [fieldIssue(value, discriminator, allowedText(allowed, value))] };
  }) as InputCheck<Input>;
}

const anyCheck = (schema: z.ZodMiniType, otherFields: readonly string[]): InputCheck<unknown> =>
  objectCheck(schema as unknown as Schema, otherFields) ?? schemaCheck(schema, otherFields);
