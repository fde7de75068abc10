/**
 * Makes the rule of a schema, by which `check-value.ts` checks values. It runs when the plugin is loaded, and so in the
 * build: afterwards nothing needs the schema, nor zod, and the plugin has neither.
 *
 * It knows what `shared/zod.ts` exports. A schema of another kind fails the build.
 */
import { codePoints } from "../../shared/text.ts";
import type * as z from "../../shared/zod.ts";
import {
  anything,
  choice,
  ends,
  fields,
  list,
  number,
  option,
  plain,
  record,
  shortList,
  union,
  wrapped,
} from "./check-value.ts";
import type { Allowed, Rule, Test } from "./check-value.ts";

/** The rule of a tool's input. Throws for a schema that has no rule, and says which kinds have one. */
export function inputRule(toolName: string, schema: z.ZodMiniType): Rule {
  try {
    return ruleOf(schema as unknown as Schema);
  } catch (error) {
    if (!(error instanceof NoRule)) throw error;
    throw new Error(
      `Cannot make the check of ${toolName}: ${error.path.join(".") || "its input"} has ${error.message}; expected only ` +
        "what shared/zod.ts exports. Use z.unknown() with z.refine for another rule, and change a value in the tool's own function",
      { cause: error },
    );
  }
}

class NoRule extends Error {
  /** Names of fields. */
  readonly path: string[] = [];
}

/** The parts of zod's schemas that are used here. */
interface Schema {
  readonly _zod: {
    readonly def: Definition;
    readonly optin?: string;
    readonly values?: Iterable<unknown>;
    readonly propValues?: Readonly<Record<string, ReadonlySet<unknown>>>;
  };
}

type ErrorMap = (issue: { readonly input: unknown }) => unknown;

interface Definition extends TestDefinition {
  readonly type: string;
  readonly coerce?: boolean;
  readonly checks?: readonly { readonly _zod: { readonly def: TestDefinition } }[];
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly unionFallback?: boolean;
  readonly inclusive?: boolean;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly mode?: string;
}

interface TestDefinition {
  readonly check?: string;
  readonly format?: string;
  readonly error?: ErrorMap;
  readonly abort?: boolean;
  readonly when?: unknown;
  readonly path?: readonly PropertyKey[];
  readonly fn?: (value: unknown) => unknown;
  readonly pattern?: RegExp;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly value?: unknown;
  readonly inclusive?: boolean;
}

const none: readonly never[] = [];

/** `null` while the rule is being made. */
const rules = new WeakMap<Schema, Rule | null>();

/** Fields of equal schemas have the same rule. */
const made: Rule[] = [];

type NewRule = { -readonly [Property in keyof Rule]: Rule[Property] };

/**
 * Rules are filled in, not put together from parts: an object that is dropped again leaves a hole in the snapshot, around
 * which every instance is larger.
 */
function ruleOf(schema: Schema): Rule {
  const known = rules.get(schema);
  if (known) return known;
  if (known === null) throw new NoRule("a schema inside of itself");
  rules.set(schema, null);
  const { def, optin } = schema._zod;
  const rule: NewRule = {
    kind: anything,
    word: "",
    keys: none,
    parts: none,
    allowed: allowedIn(def),
    tests: none,
    isNullable: false,
    mayMiss: optin === "optional",
    takesText: false,
  };
  // A format such as `z.int` is a schema and its own first test.
  if (def.check !== undefined) addTests(rule, def);
  for (const { _zod } of def.checks ?? none) addTests(rule, _zod.def);
  fillIn(rule, schema);
  const equal = made.find((each) => isEqual(each, rule)) ?? rule;
  if (equal === rule) made.push(rule);
  rules.set(schema, equal);
  return equal;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other || typeof one !== "object" || typeof other !== "object" || !one || !other) return one === other;
  const keys = Object.keys(one) as (keyof typeof one)[];
  return keys.length === Object.keys(other).length && keys.every((key) => isEqual(one[key], other[key]));
}

function fillIn(rule: NewRule, { _zod: { def, values = [] } }: Schema): void {
  const { type, innerType, element, shape } = def;
  if (def.coerce) throw new NoRule(`z.coerce.${type}`);
  if (type === "unknown") return;
  if (type === "string" || type === "boolean") {
    rule.kind = plain;
    rule.word = type;
    rule.takesText = type === "string";
  } else if (type === "number") {
    rule.kind = number;
  } else if (type === "literal" || type === "enum") {
    rule.kind = choice;
    rule.keys = [...values];
    rule.takesText = rule.keys.some((each) => typeof each === "string");
  } else if (type === "array" && element) {
    rule.kind = rule.tests.some(({ ofLength }) => ofLength === "most") ? shortList : list;
    rule.word = type;
    rule.parts = [ruleOf(element)];
  } else if (type === "object" && shape) {
    fillInFields(rule, def, shape);
  } else if (type === "record") {
    fillInRecord(rule, def);
  } else if (type === "union" && def.discriminator !== undefined) {
    fillInOptions(rule, def, def.discriminator);
  } else if (type === "union" && def.inclusive !== false) {
    rule.kind = union;
    rule.parts = (def.options ?? []).map(ruleOf);
    rule.takesText = rule.parts.some(({ takesText }) => takesText);
  } else if (innerType && (type === "optional" || type === "nullable")) {
    fillInWrapped(rule, ruleOf(innerType), type === "nullable");
  } else {
    throw new NoRule(`z.${type}`);
  }
}

function fillInFields(rule: NewRule, { catchall }: Definition, shape: Readonly<Record<string, Schema>>): void {
  if (catchall && catchall._zod.def.type !== "never") throw new NoRule("an object of any other fields");
  if (Object.hasOwn(shape, "__proto__")) throw new NoRule('an object with the field "__proto__"');
  rule.kind = fields;
  rule.word = catchall ? "strict" : "";
  rule.keys = Object.keys(shape);
  rule.parts = Object.keys(shape).map((name) => {
    try {
      return ruleOf(shape[name] as Schema);
    } catch (error) {
      if (error instanceof NoRule) error.path.unshift(name);
      throw error;
    }
  });
}

function fillInRecord(rule: NewRule, { keyType, valueType, mode }: Definition): void {
  if (!keyType || !valueType || keyType._zod.def.type !== "string" || mode === "loose")
    throw new NoRule("a z.record whose names are not z.string");
  rule.kind = record;
  rule.parts = [ruleOf(keyType), ruleOf(valueType)];
}

/** An option is there once for each value of the field that tells it apart. */
function fillInOptions(rule: NewRule, { options = [], unionFallback }: Definition, word: string): void {
  const valuesOf = ({ _zod }: Schema): unknown[] => [...(_zod.propValues?.[word] ?? [])];
  rule.kind = option;
  rule.word = word;
  rule.keys = options.flatMap(valuesOf);
  rule.parts = options.flatMap((each) => valuesOf(each).map(() => ruleOf(each)));
  if (unionFallback || new Set(rule.keys).size < rule.keys.length)
    throw new NoRule(`a union with options of equal ${word}`);
}

/** Without tests of its own it is the rule inside. */
function fillInWrapped(rule: NewRule, inner: Rule, isNullable: boolean): void {
  const { mayMiss, tests } = rule;
  if (tests.length > 0) {
    rule.kind = wrapped;
    rule.word = "wrapped";
    rule.takesText = inner.takesText;
    rule.parts = [isNullable ? { ...inner, isNullable } : inner];
    return;
  }
  Object.assign(rule, inner, { mayMiss });
  rule.isNullable ||= isNullable;
}

function addTests(rule: NewRule, def: TestDefinition): void {
  const { check, format, fn, pattern, minimum, maximum, value: bound, inclusive } = def;
  const add = (holds: Test["holds"], ofLength: Test["ofLength"] = "", isLast = def.abort === true): void => {
    rule.tests = [
      ...rule.tests,
      { holds, allowed: allowedIn(def) ?? rule.allowed, ofLength, ends: isLast ? ends.everything : ends.nothing },
    ];
  };
  if (check === "meta") return;
  if (check === "custom" && fn && !def.when && !def.path?.length) {
    if (Object.prototype.toString.call(fn) === "[object AsyncFunction]")
      throw new NoRule("a z.refine with an asynchronous function");
    add(fn);
  } else if (check === "string_format" && format === "regex" && pattern && !pattern.global && !pattern.sticky) {
    add((value) => pattern.test(String(value)));
  } else if (check === "number_format" && format === "safeint") {
    add((value) => Number.isInteger(value), "", true);
    add((value) => Number.isSafeInteger(value));
  } else if (check === "greater_than" && typeof bound === "number") {
    add((value) => (inclusive ? Number(value) >= bound : Number(value) > bound));
  } else if (check === "less_than" && typeof bound === "number") {
    add((value) => (inclusive ? Number(value) <= bound : Number(value) < bound));
  } else if (check === "max_length" && maximum !== undefined) {
    add((value) => lengthOf(value, maximum + 1, maximum) <= maximum, "most");
  } else if (check === "min_length" && minimum !== undefined) {
    add((value) => lengthOf(value, minimum, minimum) >= minimum, "least");
  } else {
    throw new NoRule(fn ? "a z.refine with a path or a condition" : `the check ${format ?? check ?? "of a function"}`);
  }
}

/** Of a text the code points, which are counted only if it is not clear without: they are half its units, or more. */
function lengthOf(value: unknown, least: number, otherwise: number): number {
  const { length = otherwise } = Object(value) as { readonly length?: number };
  return typeof value === "string" && length >= least && length < 2 * least ? codePoints(value) : length;
}

/** Of a text, zod makes a function without parameters. */
function allowedIn({ error }: { readonly error?: ErrorMap }): Allowed {
  const text = error?.length === 0 ? error({ input: undefined }) : error;
  return typeof text === "string" || typeof text === "function" ? (text as Allowed) : null;
}
