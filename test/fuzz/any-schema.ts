/** Random schemas of every kind that `shared/zod.ts` has, and values that nearly fit a schema. */
import fc from "fast-check";

import * as z from "../../shared/zod.ts";

type Schema = z.ZodMiniType;

const names = ["a", "b", "ifA", "kind"];
const say = fc.constantFrom<{ error?: string }>({}, { error: "what is allowed" });
const whole = fc.integer({ min: -2, max: 3 });

const leaf: fc.Arbitrary<Schema> = fc.oneof(
  say.map((own) => z.string(own)),
  fc
    .tuple(say, say, fc.boolean())
    .map(([own, of, abort]) =>
      z.string(own).check(z.regex(/^[a-z\d]*$/, { ...of, abort }), z.maxLength(1, of), z.minLength(1)),
    ),
  fc
    .tuple(say, whole)
    .map(([own, least]) => z.number(own).check(z.minimum(least), z.maximum(least + 1, { error: "at most" }))),
  fc.tuple(say, whole).map(([own, least]) => z.int(own).check(z.minimum(least), z.nonnegative())),
  say.map((own) => z.boolean(own)),
  fc.tuple(fc.subarray(["a", 5, null, true], { minLength: 1 }), say).map(([values, own]) => z.literal(values, own)),
  say.map((own) => z.enum(["a", "b"], own)),
  fc.constant(z.unknown()),
  fc
    .tuple(say, fc.boolean())
    .map(([own, abort]) => z.unknown().check(z.refine((value) => typeof value === "number", { ...own, abort }))),
);

const tested = (schema: Schema): Schema =>
  schema.check(
    z.refine((given) => (JSON.stringify(given) ?? "").length % 3 !== 0, {
      error: ({ input }: { readonly input?: unknown }) => `other than ${JSON.stringify(input)}`,
    }),
    z.meta({ description: "A value with a test of its own" }),
  );

const fieldsOf = (parts: readonly Schema[]): Record<string, Schema> =>
  Object.fromEntries(parts.map((schema, at) => [names[at] as string, schema]));

/** `input`: one that is an object. */
export const anySchema = fc.letrec<{ any: Schema; input: Schema; part: Schema; item: Schema }>((tie) => {
  const parts = (minLength: number): fc.Arbitrary<Schema[]> => fc.array(tie("part"), { minLength, maxLength: 3 });
  return {
    part: fc.oneof({ maxDepth: 3, depthSize: "small" }, leaf, tie("any")),
    // No list: of a list that is wrong, all texts inside are opened, also those of a list in it that is right.
    item: fc.oneof({ maxDepth: 3, depthSize: "small" }, leaf, tie("input")),
    input: fc.oneof(
      fc.tuple(parts(1), say).map(([all, own]) => z.strictObject(fieldsOf(all), own)),
      fc.tuple(parts(1), say).map(([all, own]) => z.object(fieldsOf(all), own)),
      fc.tuple(parts(1), say).map(([all, own]) => tested(z.strictObject(fieldsOf(all), own))),
      fc.tuple(parts(2), say).map(([all, own]) => {
        const options = all.map((a, at) => z.strictObject({ kind: z.literal(["x", "y", "z"][at] as string), a }, own));
        return z.discriminatedUnion("kind", options as never, own);
      }),
    ),
    any: fc.oneof(
      tie("input"),
      fc.tuple(tie("part"), fc.boolean()).map(([part, has]) => (has ? tested(z.optional(part)) : z.optional(part))),
      fc.tuple(tie("part"), fc.boolean()).map(([part, has]) => (has ? tested(z.nullable(part)) : z.nullable(part))),
      fc.tuple(tie("item"), say).map(([item, own]) => z.array(item, own)),
      fc
        .tuple(tie("item"), say)
        .map(([item, own]) => tested(z.array(item, own).check(z.minLength(1, own), z.maxLength(2)))),
      fc.tuple(tie("part"), say).map(([part, own]) => z.record(z.string().check(z.regex(/^\w*$/)), part, own)),
      fc.tuple(parts(1), say).map(([all, own]) => z.union(all as never, own)),
    ),
  };
}).input;

const texts = [
  "a",
  "a.md",
  "",
  "b",
  "xy",
  "x y",
  "\0",
  "\ud800",
  "two\nlines",
  "😀",
  "/memories/a",
  "2026-01-02T03:04:05.678Z",
];

/** Values as careless clients send them: also JSON in a text. */
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...texts, 0, 1, -1, 1.5, 2 ** 53, 1e300, true, false, null, [], {}),
  fc.constantFrom("null", "[]", "{}", "5", " 1 ", "true", '"a"', '["1", 2]', "[1", "[["),
  fc.string({ maxLength: 400 }),
  fc.jsonValue({ maxDepth: 2 }),
  fc.jsonValue({ maxDepth: 2 }).map((each) => JSON.stringify(each)),
);

interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly element?: Schema;
  readonly valueType?: Schema;
  readonly options?: readonly Schema[];
}

/** Values of which most parts fit the schema. `more`: names that its objects may have besides their own. */
export function nearly(schema: Schema, more: readonly string[] = []): fc.Arbitrary<unknown> {
  const fit = fitting(schema, more);
  return fc.oneof(
    { weight: 8, arbitrary: fit },
    { weight: 1, arbitrary: anyValue },
    { weight: 1, arbitrary: fit.map((each) => JSON.stringify(each) ?? "") },
  );
}

function fitting(schema: Schema, more: readonly string[]): fc.Arbitrary<unknown> {
  const { type, innerType, shape, element, valueType, options } = schema._zod.def as unknown as Definition;
  if (innerType) return fc.oneof({ weight: 3, arbitrary: nearly(innerType, more) }, fc.constant(null));
  if (shape) {
    const own = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, nearly(field, more)]));
    const others = fc.dictionary(fc.constantFrom("extra", "x y", "constructor", "__proto__", ...more), anyValue, {
      maxKeys: 1,
    });
    return fc.tuple(others, fc.record(own, { requiredKeys: [] }), fc.record(own)).map(withOwn);
  }
  if (element) return fc.array(nearly(element, more), { maxLength: 4 });
  if (valueType)
    return fc.dictionary(fc.constantFrom("a", "ifB", "x y", "constructor"), nearly(valueType, more), { maxKeys: 2 });
  if (options) return fc.oneof(...options.map((each) => nearly(each, more)));
  const values = [...(schema._zod.values ?? [])];
  if (values.length > 0) return fc.constantFrom(...values);
  if (type === "string") return fc.oneof(fc.constantFrom(...texts), fc.string({ maxLength: 400 }));
  if (type === "number") return fc.oneof(whole, fc.double({ noNaN: true }));
  return type === "boolean" ? fc.boolean() : anyValue;
}

/** Half of them have all fields; most have no others. */
function withOwn([others, some, all]: [object, object, object]): object {
  const own = JSON.stringify(some).length % 2 === 0 ? all : some;
  return JSON.stringify(own).length % 3 === 0 ? { ...others, ...own } : own;
}
