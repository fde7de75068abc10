/** `null` in place of nothing: an input with it has the same result as one without these fields. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { inputParser } from "../../plugin/parse-input.ts";
import { wholeNumber } from "../../plugin/whole-number.ts";
import * as z from "../../shared/zod.ts";
import { runs } from "../stage/random-runs.ts";

const text = z.string({ error: "a text" });

const inner = z.strictObject(
  { needed: text, label: z.optional(text), fact: z.optional(z.nullable(text)) },
  { error: "no other fields" },
);

/** Every kind of field: required or not, able to be `null` or not, in objects, lists and records. */
const schema = z.strictObject(
  {
    needed: text,
    label: z.optional(text),
    count: z.optional(wholeNumber("a whole number")),
    fact: z.nullable(text),
    maybe: z.optional(z.nullable(text)),
    value: z.optional(z.unknown()),
    inner: z.optional(inner),
    list: z.optional(z.array(inner, { error: "a list" })),
    labels: z.optional(z.record(z.string(), text)),
  },
  { error: "no other fields" },
);

const parseText = inputParser({ toolName: "Tool", schema, otherFields: ["other"] });
const parse = (input: unknown): unknown => parseText(JSON.stringify(input));

const word = fc.string({ maxLength: 3 });
const orNull = fc.option(word);
const innerInput = fc.record({ needed: word, label: word, fact: orNull }, { requiredKeys: ["needed"] });
const wholeInput = fc.record(
  {
    needed: word,
    label: word,
    count: fc.integer(),
    fact: orNull,
    maybe: orNull,
    value: fc.jsonValue(),
    inner: innerInput,
    list: fc.array(innerInput, { maxLength: 3 }),
    labels: fc.dictionary(word, word),
  },
  { requiredKeys: ["needed", "fact"] },
);

type Input = Record<string, unknown>;

/** The input with `null` for what it leaves out and what cannot be `null`, and for a field of another command. */
function filled(input: Input): Input {
  const [held, list] = [input["inner"] as Input | undefined, input["list"] as Input[] | undefined];
  return {
    label: null,
    count: null,
    labels: null,
    other: null,
    ...input,
    inner: held ? { label: null, ...held } : null,
    list: list ? list.map((each) => Object.assign({ label: null }, each)) : null,
  };
}

test("null for optional fields, at any depth, changes nothing", () => {
  fc.assert(
    fc.property(wholeInput, (input) => {
      expect(parse(filled(input))).toEqual(parse(input));
    }),
    runs(200),
  );
});

const valid = { needed: "a", fact: null };

test.for<readonly [what: string, input: Input]>([
  ["a field that can be null", { ...valid, maybe: null }],
  ["any JSON value", { ...valid, value: null }],
  ["nested fields that can be null", { ...valid, list: [{ needed: "a", fact: null }] }],
])("null keeps its meaning as %s", ([, input]) => {
  expect(parse(input)).toEqual(input);
  expect(parse({ ...input, label: null })).toEqual(input);
});

test.for<readonly [what: string, input: unknown, message: string]>([
  ["a required field", { ...valid, needed: null, label: null }, "needed is null, allowed: a text"],
  ["an item of a list", { ...valid, list: [null] }, "list is an array, allowed: no other fields"],
  ["an unknown field", { ...valid, userId: null, label: null }, "userId is null, allowed: no other fields"],
  ["a property of every object", { ...valid, constructor: null }, "constructor is null, allowed: no other fields"],
  ["the whole input", null, "input is null, allowed: a JSON object"],
  ["what stands beside a wrong field", { ...valid, label: 5, count: null }, "label is 5, allowed: a text"],
])("null is wrong as %s", ([, input, message]) => {
  expect(() => parse(input)).toThrow(message);
});
