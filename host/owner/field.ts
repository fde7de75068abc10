/** The fields of an operation's input: what programs pass, and how a person types it. */
import { counted, presentValue } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { optionsFault } from "../values/known-fields.ts";

export interface Field<Value = unknown> {
  readonly schema: z.ZodMiniType<Value>;
  /** One line for the help. */
  readonly meaning: string;
  /** What stands for the value in the help, such as `NAME`. A switch has none. */
  readonly placeholder: string | null;
  /** The name of its flag, if that is not made from the field's. */
  readonly flag?: string;
  readonly isRequired: boolean;
  /** Whether it can be given several times. */
  readonly isList: boolean;
  /** What the value is, for the message that refuses another one. */
  readonly expected: string;
  /** The value of what a person has typed; `undefined` if it is none. `null`: only programs pass it. */
  readonly read: ((text: string) => unknown) | null;
}

export type Fields = Readonly<Record<string, Field>>;

/** An input with these fields. What is not required can be left out. */
export type InputOf<Of extends Fields> = {
  readonly [Name in keyof Of as undefined extends ValueOf<Of[Name]> ? never : Name]: ValueOf<Of[Name]>;
} & { readonly [Name in keyof Of as undefined extends ValueOf<Of[Name]> ? Name : never]?: ValueOf<Of[Name]> };

type ValueOf<Of> = Of extends Field<infer Value> ? Value : never;

/** A text. `fits`: which ones. A person cannot type an empty one. */
export function text(
  placeholder: string,
  meaning: string,
  expected = "a text",
  fits: (typed: string) => boolean = () => true,
): Field<string> {
  const schema = z.string().check(z.refine(fits));
  return required(schema, { placeholder, meaning, expected, read: (typed) => (fits(typed) ? typed : undefined) });
}

const countFrom = (typed: string): number | undefined => (/^[1-9]\d{0,14}$/.test(typed) ? Number(typed) : undefined);

/** A whole number from 1. */
export function count(placeholder: string, meaning: string, expected = "a whole number from 1"): Field<number> {
  return required(z.int().check(z.minimum(1)), { placeholder, meaning, expected, read: countFrom });
}

export function oneOf<const Text extends string>(
  texts: readonly Text[],
  placeholder: string,
  meaning: string,
): Field<Text> {
  const read = (typed: string): Text | undefined => texts.find((each) => each === typed);
  return required(z.enum(texts), { placeholder, meaning, expected: texts.join(", "), read });
}

const isDate = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
const aDate = z.unknown().check(z.refine(isDate)) as unknown as z.ZodMiniType<Date>;

/** A time; a person can also type an age, which is counted from now: backwards, or forwards for what ends later. */
export function time(
  placeholder: string,
  meaning: string,
  direction: "ago" | "ahead",
  expected = direction === "ago" ? pastTime : futureTime,
): Field<Date> {
  const read = (typed: string): Date | undefined => timeFrom(typed, direction);
  return required(aDate, { placeholder, meaning, expected, read });
}

/** The time that a person has typed; `undefined` if it is none. */
export function timeFrom(typed: string, direction: "ago" | "ahead"): Date | undefined {
  const ms = ageMs(typed);
  if (ms !== null)
    return direction === "ahead" && ms === 0 ? undefined : new Date(Date.now() + (direction === "ago" ? -ms : ms));
  const at = timePattern.test(typed) ? new Date(typed) : new Date(Number.NaN);
  const isThere = direction === "ago" ? at.getTime() <= Date.now() : at.getTime() > Date.now();
  return isThere ? at : undefined;
}

const timePattern = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/;
const pastTime = "a day or a time in the past with its zone, as in 2026-11-26T10:00:00Z, or an age as in 2h";
const futureTime = "a number above 0 and s, m, h or d, as in 30d";

/** On or off, without a value. */
export function flag(meaning: string): Field<boolean | undefined> {
  return {
    schema: z.optional(z.boolean()),
    meaning,
    placeholder: null,
    isRequired: false,
    isList: false,
    expected: "true or false",
    read: () => true,
  };
}

/** What only programs pass. */
export function passed<Value>(schema: z.ZodMiniType<Value>, expected: string): Field<Value> {
  return required(schema, { placeholder: null, meaning: expected, expected, read: null });
}

/** What is passed, or a part of it, is a function: no more can be checked. */
export const aFunction = z.unknown().check(z.refine((value) => typeof value === "function"));

/** The same field, but it can be left out. */
export function optional<Value>(field: Field<Value>): Field<Value | undefined> {
  return { ...field, schema: z.optional(field.schema), isRequired: false };
}

/** Several values of a field, in order, or none. */
export function listOf<Value>(field: Field<Value>): Field<readonly Value[] | undefined> {
  return { ...field, schema: z.optional(z.array(field.schema)), isRequired: false, isList: true };
}

function required<Value>(
  schema: z.ZodMiniType<Value>,
  words: Pick<Field, "placeholder" | "meaning" | "expected" | "read">,
): Field<Value> {
  return { ...words, schema, isRequired: true, isList: false };
}

/** What is wrong with an input. */
export interface InputFault {
  /** As a clause: `scope is 7; expected a text`. */
  readonly clause: string;
  readonly issues: readonly { readonly field: string; readonly value: string; readonly allowed: string }[];
}

/**
 * The input that a program has passed: some fields as operands, the others as options. Callers without types can pass anything.
 * Each is read once.
 */
export function inputFrom<Of extends Fields>(
  operation: { readonly fields: Of; check?(input: InputOf<Of>): string | null },
  options: object | undefined,
  operands: Readonly<Record<string, unknown>>,
): { readonly input: InputOf<Of> } | InputFault {
  const names = Object.keys(operation.fields).filter((name) => !Object.hasOwn(operands, name));
  const known = Object.fromEntries(names.map((name) => [name, true] as const));
  const unknown = options === undefined ? null : optionsFault(options, known);
  if (unknown !== null) return { clause: unknown, issues: [] };
  const input: Record<string, unknown> = { ...operands };
  for (const name of names) {
    const value = (options as Readonly<Record<string, unknown>> | undefined)?.[name];
    if (value !== undefined) input[name] = value;
  }
  for (const [name, { schema, expected: allowed }] of Object.entries(operation.fields)) {
    const [issue] = z.safeParse(schema, input[name]).error?.issues ?? [];
    if (issue === undefined) continue;
    const field =
      name + issue.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
    const value = presentValue(valueIn(input[name], issue.path));
    return { clause: `${field} is ${value}; expected ${allowed}`, issues: [{ field, value, allowed }] };
  }
  const clause = operation.check?.(input as InputOf<Of>) ?? null;
  return clause === null ? { input: input as InputOf<Of> } : { clause, issues: [] };
}

const valueIn = (value: unknown, [step, ...others]: readonly PropertyKey[]): unknown =>
  step === undefined ? value : valueIn((value as Readonly<Record<PropertyKey, unknown>> | null)?.[step], others);

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An age such as `30d` in milliseconds; `null` if the text is none. */
function ageMs(typed: string): number | null {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(typed) ?? [];
  return number === undefined ? null : Number(number) * unitsMs[unit as keyof typeof unitsMs];
}

/** An age in its largest unit, such as `3 hours`. */
export function shownAge(ms: number): string {
  const [unit, unitMs] = Object.entries(unitsMs).findLast(([, each]) => ms >= each) ?? ["s", unitsMs.s];
  return counted(Math.floor(ms / unitMs), unitWords[unit as keyof typeof unitsMs]);
}

const unitWords = { s: "second", m: "minute", h: "hour", d: "day" };
