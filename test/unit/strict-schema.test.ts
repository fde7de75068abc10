/** What becomes of each part of a schema in the forms of strict modes. */
import { expect, test } from "vitest";

import { anthropicDialect, openaiDialect } from "../../host/plugins/formats/strict-dialects.ts";
import { strictSchema } from "../../host/plugins/formats/tool-formats.ts";
import { strictFaults } from "../executor/strict-faults.ts";

/** An object whose one field has the schema. */
const holding = (field: unknown) => ({ type: "object" as const, properties: { field }, required: ["field"] });

const fieldIn = (field: unknown, dialect = openaiDialect): unknown =>
  strictSchema(holding(field) as Parameters<typeof strictSchema>[0], dialect)?.properties?.["field"];

const scalars = [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "null" }];
const anyValue = {
  anyOf: [...scalars, { type: "array", items: { anyOf: scalars } }],
  description: "In this form: a text, number, boolean, null, or a list of these. Write an object as JSON text.",
};

test.for<readonly [what: string, field: unknown, strict: unknown]>([
  ["the bounds of an exact integer", { type: "integer", maximum: Number.MAX_SAFE_INTEGER }, { type: "integer" }],
  [
    "a bound that it does not know",
    { type: "string", maxLength: 3, description: "Short" },
    { type: "string", description: "Short\n{maxLength: 3}" },
  ],
  [
    "a pattern that looks around",
    { type: "string", pattern: "^(?!a)" },
    { type: "string", description: '{pattern: "^(?!a)"}' },
  ],
  ["what says nothing", { type: "string", title: "T", $comment: "C", deprecated: true }, { type: "string" }],
  ["an enum of several types", { enum: ["a", 1, null] }, { type: ["string", "number", "null"], enum: ["a", 1, null] }],
  ["any value", {}, anyValue],
  [
    "an object that ignores other fields",
    { type: "object", properties: { a: { type: "null" } }, required: ["a"] },
    { type: "object", properties: { a: { type: "null" } }, required: ["a"], additionalProperties: false },
  ],
])("%s", ([, field, strict]) => {
  expect(fieldIn(field)).toEqual(strict);
  const nested = holding({ type: "array", items: { anyOf: [{ type: "null" }, field] } });
  for (const [api, dialect] of Object.entries({ openai: openaiDialect, anthropic: anthropicDialect } as const)) {
    const made = strictSchema(nested as Parameters<typeof strictSchema>[0], dialect);
    expect(made && strictFaults(made, api as "openai" | "anthropic")).toEqual([]);
  }
});

test("in OpenAI's form, an optional field is required and can be null", () => {
  const properties = {
    a: { type: "string", description: "d" },
    b: { enum: ["a"], description: "d" },
    c: { anyOf: [{ type: "null" }] },
  };
  expect(strictSchema({ type: "object", properties } as never, openaiDialect)).toEqual({
    type: "object",
    properties: {
      a: { type: ["string", "null"], description: "d" },
      b: { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }], description: "d" },
      c: { anyOf: [{ type: "null" }] },
    },
    required: ["a", "b", "c"],
    additionalProperties: false,
  });
});

test("in Anthropic's form, a field stays optional, and bounds are in the description", () => {
  const schema = { type: "object" as const, properties: { a: { type: "integer", minimum: 1 } } };
  expect(strictSchema(schema, anthropicDialect)).toEqual({
    type: "object",
    properties: { a: { type: "integer", description: "{minimum: 1}" } },
    required: [],
    additionalProperties: false,
  });
});

test.for<readonly [what: string, field: unknown]>([
  ["an object of any fields", { type: "object" }],
  ["a map", { type: "object", additionalProperties: { type: "string" } }],
  ["a required field without a schema", { type: "object", properties: { a: {} }, required: ["b"] }],
  ["fields without a type", { properties: { a: {} } }],
  ["a choice beside a type", { type: "object", anyOf: [{ required: ["a"] }] }],
  ["a choice and another", { anyOf: [{}], oneOf: [{}] }],
  ["no values", { enum: [] }],
  ["no value", false],
  ...["allOf", "$ref", "patternProperties", "x-own"].map(
    (keyword) => [`the keyword ${keyword}`, { type: "string", [keyword]: {} }] as const,
  ),
  [
    "what is nested too deep",
    Array.from({ length: 10 }).reduce((items) => ({ type: "array", items }), { type: "null" }),
  ],
])("has no strict form: %s", ([, field]) => {
  for (const dialect of [openaiDialect, anthropicDialect]) {
    expect(fieldIn(field, dialect)).toBeUndefined();
    expect(fieldIn({ type: "array", items: { anyOf: [{ type: "null" }, field] } }, dialect)).toBeUndefined();
  }
});

test("a root that is no object has no strict form", () => {
  for (const type of ["array", undefined, ["object", "null"]])
    expect(strictSchema({ type, items: { type: "null" } } as never, openaiDialect)).toBeNull();
});

test("a field can have the name of an object's own property", () => {
  const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as object;
  const strict = strictSchema({ type: "object", properties, required: ["__proto__"] } as never, openaiDialect);
  expect(Object.keys(strict?.properties ?? {})).toEqual(["__proto__", "constructor"]);
});
