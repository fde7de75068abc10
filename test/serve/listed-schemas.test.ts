/** The list of tools, of all families, by the rules of the clients and APIs in the table of host/serve/README.md. */
import { afterAll, beforeAll, expect, test } from "vitest";

import { plainSchema } from "../../host/plugins/formats/plain-schema.ts";
import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";

let stage: HttpStage;
let tools: readonly Listed[];
beforeAll(async () => {
  stage = await openHttpStage({ runtime: { memory: { sharingByModels: true } } });
  const { body } = await stage.rpc(await stage.issuer.token("alice"), "tools/list");
  ({ tools } = (JSON.parse(body) as { readonly result: { readonly tools: readonly Listed[] } }).result);
});
afterAll(async () => await stage[Symbol.asyncDispose]());

type Schema = Readonly<Record<string, unknown>>;

interface Listed {
  readonly name: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A schema and all schemas in it. */
function* within(schema: unknown): Generator<Schema> {
  if (!isSchema(schema)) return;
  yield schema;
  const { properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema;
  const parts = [...Object.values(properties as object), items, anyOf, oneOf, allOf, additionalProperties];
  for (const part of parts.flat()) yield* within(part);
}

const combiners = ["anyOf", "oneOf", "allOf"];
const has = (schema: Schema, ...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(schema, name));

/** What breaks a rule, by the rule's first cell in the table. */
const rules: Readonly<Record<string, (tool: Listed) => unknown>> = {
  "the root is an object with properties, and has no `anyOf`, `oneOf` or `allOf`": ({ inputSchema }) =>
    inputSchema["type"] !== "object" || !isSchema(inputSchema["properties"]) || has(inputSchema, ...combiners),
  "each value has one type": ({ inputSchema }) =>
    [...within(inputSchema)].find((each) => typeof each["type"] !== "string"),
  "a list has items": ({ inputSchema }) =>
    [...within(inputSchema)].find((each) => each["type"] === "array" && !isSchema(each["items"])),
  "an object has properties": ({ inputSchema }) =>
    [...within(inputSchema)].find((each) => each["type"] === "object" && !isSchema(each["properties"])),
  "no `$schema`, `$ref`, `$defs` and `const`, in no schema": ({ inputSchema, outputSchema }) =>
    [...within(inputSchema)].find((each) => has(each, "$schema", "$ref", "$defs", "const")) ??
    (has(outputSchema, "$schema") && outputSchema),
  "`null` is no type and no value of an enum": ({ inputSchema }) =>
    [...within(inputSchema)].find(({ type, enum: values }) => type === "null" || [values].flat().includes(null)),
  "an enum has texts": ({ inputSchema }) =>
    [...within(inputSchema)].find(({ enum: values = [] }) => [values].flat().some((each) => typeof each !== "string")),
  "names of tools and fields are 1 to 64 of `A-Za-z0-9_-`, and begin with a letter or `_`": ({ name, inputSchema }) =>
    [name, ...Object.keys(inputSchema["properties"] as object)].find((each) => !/^[A-Za-z_][\w-]{0,63}$/.test(each)),
};

test("the table has these rules", () => {
  const told = tableBelow(textOf("host/serve/README.md"), "What clients take").map(([rule]) => rule);
  expect(told).toEqual(Object.keys(rules));
});

test.for(Object.entries(rules))("%s", ([, breaks]) => {
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["memory", "memory_search", "ReadRunHistory"]));
  const broken = tools
    .map((tool) => [tool.name, breaks(tool)])
    .filter(([, what]) => what !== undefined && what !== false);
  expect(broken).toEqual([]);
});

test("a schema of any plugin keeps its meaning, except for null in place of nothing", () => {
  const anyPlugins = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      any: { description: "Anything" },
      few: { anyOf: [{ type: "array" }, { type: "null" }], description: "A list" },
      one: { type: ["integer", "null"], minimum: 1 },
      must: { anyOf: [{ type: "string" }, { type: "null" }] },
      either: { type: ["string", "number"], description: "Either" },
      fixed: { const: 5 },
      map: { type: "object", "x-mcp-header": "Map" },
      deep: { type: "object", properties: { a: true }, required: ["a"] },
    },
    required: ["must"],
    additionalProperties: false,
  } as const;
  expect(plainSchema(structuredClone(anyPlugins) as never)).toEqual({
    type: "object",
    properties: {
      any: { description: "Anything", type: "string" },
      few: { type: "array", items: { type: "string" }, description: "A list" },
      one: { type: "integer", minimum: 1 },
      must: { anyOf: [{ type: "string" }, { type: "null" }] },
      either: { description: "Either", anyOf: [{ type: "string" }, { type: "number" }] },
      fixed: { enum: [5], type: "number" },
      map: { type: "object", properties: {} },
      deep: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    },
    required: ["must"],
    additionalProperties: false,
  });
});
