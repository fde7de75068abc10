/** The check of a tool's input, made from its schema when the plugin is loaded. */
import type * as z from "../../shared/zod.ts";
import { allowedIn, allowedText } from "./field-check.ts";
import type { Schema } from "./field-check.ts";
import type { Leniency } from "./meant-value.ts";
import { fieldIssue, isObject, noObject, objectCheck } from "./object-check.ts";
import type { InputCheck } from "./object-check.ts";
import { schemaCheck } from "./schema-check.ts";

/** A wrong value is read as what it can only mean (`meant-value.ts`); an input that is `null` has no fields. */
export function inputCheck<Input>(
  schema: z.ZodMiniType<Input>,
  { otherFields = [], isExact = false }: Partial<Leniency> = {},
): InputCheck<Input> {
  const leniency = { otherFields, isExact };
  const check = wholeCheck(schema, leniency) as InputCheck<Input>;
  if (isExact) return check;
  return (value) => check(value ?? {});
}

function wholeCheck(schema: z.ZodMiniType, leniency: Leniency): InputCheck<unknown> {
  const { def } = (schema as unknown as Schema)._zod;
  const { type, discriminator, options } = def;
  if (type !== "union" || discriminator === undefined || !options) return anyCheck(schema, leniency);
  const allowed = allowedIn(def);
  const checks = new Map<unknown, InputCheck<unknown>>();
  for (const option of options) {
    const check = anyCheck(option as unknown as z.ZodMiniType, leniency);
    for (const value of option._zod.def.shape?.[discriminator]?._zod.def.values ?? []) checks.set(value, check);
  }
  return (value) => {
    if (!isObject(value)) return noObject(value);
    const check = checks.get(value[discriminator]);
    return check ? check(value) : { issues: [fieldIssue(value, discriminator, allowedText(allowed, value))] };
  };
}

const anyCheck = (schema: z.ZodMiniType, leniency: Leniency): InputCheck<unknown> =>
  objectCheck(schema as unknown as Schema, leniency) ?? schemaCheck(schema, leniency);
