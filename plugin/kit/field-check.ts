/** What one field's schema allows, as plain data, and the check by it (`input-check.ts`). */
import { codePoints } from "../../shared/text.ts";
import { heldBy } from "./meant-value.ts";

/** A schema is of a kind that only its own parser knows. */
export class OtherKind extends Error {}

/** The parts of zod's schemas that are used here. */
export interface Schema {
  readonly _zod: { readonly def: Definition; readonly optin?: string };
}

type Allowed = ((issue: { readonly input: unknown }) => string) | undefined;

interface Definition {
  readonly type: string;
  readonly error?: Allowed;
  readonly checks?: readonly { readonly _zod: { readonly def: TestDefinition } }[];
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
}

interface TestDefinition {
  readonly check: string;
  readonly error?: Allowed;
  readonly fn?: (value: unknown) => boolean;
  readonly pattern?: RegExp;
  readonly maximum?: number;
}

/** A text, or what makes it of the value that is not allowed. */
type Text = string | ((issue: { readonly input: unknown }) => string);

/** zod's text for what says nothing itself. */
export const sayingNothing = "Invalid input";

/** Of a text, zod makes a function without parameters. */
export function allowedIn({ error }: { readonly error?: Allowed }): Text {
  return error?.length === 0 ? error({ input: undefined }) : (error ?? sayingNothing);
}

export const allowedText = (allowed: Text, input: unknown): string =>
  typeof allowed === "string" ? allowed : allowed({ input });

export interface FieldRule {
  readonly type: "string" | "boolean" | "unknown" | "choice" | "list";
  readonly choices: readonly unknown[] | null;
  /** Of a list's values. */
  readonly each: FieldRule | null;
  readonly allowed: Text;
  readonly tests: readonly Test[];
  /** `undefined` needs no check. */
  readonly isOptional: boolean;
  /** `null` needs no check. */
  readonly isNullable: boolean;
  /** The input need not have the field. */
  readonly mayMiss: boolean;
}

const none: readonly never[] = [];

/** Fields of the same schema have the same rule, because every instance has all rules in its memory. */
const rules = new WeakMap<Schema, FieldRule>();

export function fieldRule(schema: Schema): FieldRule {
  const known = rules.get(schema);
  if (known) return known;
  const { def, optin } = schema._zod;
  const rule = { ...newRule(def), mayMiss: optin === "optional" };
  rules.set(schema, rule);
  return rule;
}

function newRule(def: Definition): Omit<FieldRule, "mayMiss"> {
  const { type, innerType, element, checks = none } = def;
  const found = checks.flatMap(({ _zod }) => testOf(_zod.def));
  if (innerType && found.length === 0) {
    const inner = fieldRule(innerType);
    if (type === "optional") return { ...inner, isOptional: true };
    if (type === "nullable") return { ...inner, isNullable: true };
  }
  const tests = found.length > 0 ? found : none;
  const rule = { choices: null, each: null, allowed: allowedIn(def), tests, isOptional: false, isNullable: false };
  if (type === "string" || type === "boolean" || type === "unknown") return { type, ...rule };
  if (type === "array" && element) return { type: "list", ...rule, each: fieldRule(element) };
  const choices = type === "enum" ? Object.values(def.entries ?? {}) : def.values;
  if (!choices) throw new OtherKind();
  return { type: "choice", ...rule, choices };
}

/** In place of a value of another type. The tests of a schema do not get one. */
const ofOtherType = Symbol("of another type");

/** Returns the field's value, and adds what is allowed for each reason why it is wrong. */
export function checkField(rule: FieldRule, value: unknown, wrong: string[]): unknown {
  if (value === undefined ? rule.isOptional : value === null && rule.isNullable) return value;
  const checked = checkType(rule, value, wrong);
  for (const test of rule.tests) {
    if (checked === ofOtherType && !test.isOfLength) continue;
    if (!test.holds(value)) wrong.push(allowedText(test.allowed, value));
  }
  return checked;
}

function checkType({ type, choices, each, allowed }: FieldRule, value: unknown, wrong: string[]): unknown {
  if (type === "unknown" || typeof value === type || choices?.includes(value)) return value;
  if (each && Array.isArray(value)) {
    const checked = value.map((one) => checkField(each, one, wrong));
    return checked.includes(ofOtherType) ? ofOtherType : checked;
  }
  wrong.push(allowedText(allowed, value));
  return ofOtherType;
}

/** What a wrong value can only mean, which may be wrong as well. The value itself if a text is allowed. */
export function meantBy({ type, choices, each }: FieldRule, value: unknown): unknown {
  if (type === "string" || choices?.some((choice) => typeof choice === "string")) return value;
  const meant = typeof value === "string" ? heldBy(value) : value;
  return each && Array.isArray(meant) ? meant.map((one) => meantBy(each, one)) : meant;
}

interface Test {
  readonly holds: (value: unknown) => boolean;
  readonly allowed: Text;
  /** Whether it is made of everything that has a length, whatever its type. */
  readonly isOfLength: boolean;
}

function testOf(def: TestDefinition): Test[] {
  const { check, fn, pattern, maximum } = def;
  if (check === "meta") return [];
  const [allowed, isOfLength] = [allowedIn(def), check === "max_length"];
  if (check === "custom" && fn) return [{ holds: fn, allowed, isOfLength }];
  if (check === "string_format" && pattern && !pattern.global && !pattern.sticky)
    return [{ holds: (value) => pattern.test(String(value)), allowed, isOfLength }];
  if (isOfLength && maximum !== undefined)
    return [{ holds: (value) => lengthOf(value, maximum) <= maximum, allowed, isOfLength }];
  throw new OtherKind();
}

/** Of a text the code points, which are counted only if there can be too many. */
function lengthOf(value: unknown, maximum: number): number {
  const { length = 0 } = Object(value) as { readonly length?: number };
  return typeof value === "string" && length > maximum ? codePoints(value) : length;
}
