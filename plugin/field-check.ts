/** The check of one field's schema (`input-check.ts`). */
import { codePoints } from "../shared/text.ts";

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

/** zod's text for what says nothing itself. */
export const sayingNothing = "Invalid input";

export const allowedBy = (error: Allowed, input: unknown): string => error?.({ input }) ?? sayingNothing;

/** Returns the field's value, and adds what is allowed for each reason why it is wrong. */
export type FieldCheck = (value: unknown, wrong: string[]) => unknown;

/** In place of a value of another type. The tests of a schema do not get one. */
const ofOtherType = Symbol("of another type");

export function fieldCheck(definition: Definition): FieldCheck {
  const check = typeCheck(definition);
  const tests = (definition.checks ?? []).flatMap(({ _zod }) => testOf(_zod.def));
  if (tests.length === 0) return check;
  return (value, wrong) => {
    const checked = check(value, wrong);
    for (const { holds, isOfLength, error } of tests) {
      if (checked === ofOtherType && !isOfLength) continue;
      if (!holds(value)) wrong.push(allowedBy(error, value));
    }
    return checked;
  };
}

function typeCheck({ type, innerType, element, entries, values, error }: Definition): FieldCheck {
  const only =
    (isOfType: (value: unknown) => boolean): FieldCheck =>
    (value, wrong) => {
      if (isOfType(value)) return value;
      wrong.push(allowedBy(error, value));
      return ofOtherType;
    };
  if (type === "string" || type === "boolean") return only((value) => typeof value === type);
  if (type === "unknown") return (value) => value;
  const choices = type === "enum" && entries ? Object.values(entries) : values;
  if (choices) return only((value) => choices.includes(value));
  if (type === "array" && element) {
    const check = fieldCheck(element._zod.def);
    return listCheck(check, only(Array.isArray));
  }
  if ((type === "optional" || type === "nullable") && innerType) {
    const nothing = type === "optional" ? undefined : null;
    const check = fieldCheck(innerType._zod.def);
    return (value, wrong) => (value === nothing ? value : check(value, wrong));
  }
  throw new OtherKind();
}

function listCheck(check: FieldCheck, checkList: FieldCheck): FieldCheck {
  return (value, wrong) => {
    if (checkList(value, wrong) === ofOtherType) return ofOtherType;
    const checked = (value as unknown[]).map((each) => check(each, wrong));
    return checked.includes(ofOtherType) ? ofOtherType : checked;
  };
}

interface Test {
  readonly holds: (value: unknown) => boolean;
  readonly error: Allowed;
  /** Whether it is made of everything that has a length, whatever its type. */
  readonly isOfLength: boolean;
}

function testOf({ check, fn, pattern, maximum, error }: TestDefinition): Test[] {
  if (check === "meta") return [];
  if (check === "custom" && fn) return [{ holds: fn, error, isOfLength: false }];
  if (check === "string_format" && pattern && !pattern.global && !pattern.sticky)
    return [{ holds: (value) => pattern.test(String(value)), error, isOfLength: false }];
  if (check === "max_length" && maximum !== undefined)
    return [{ holds: (value) => lengthOf(value, maximum) <= maximum, error, isOfLength: true }];
  throw new OtherKind();
}

/** Of a text the code points, which are counted only if there can be too many. */
function lengthOf(value: unknown, maximum: number): number {
  const { length = 0 } = Object(value) as { readonly length?: number };
  return typeof value === "string" && length > maximum ? codePoints(value) : length;
}
