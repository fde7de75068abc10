/**
 * Checks whether every value of one schema is valid in another. The host compares a plugin's schemas with its roles'
 * this way.
 */
import { expect, test } from "vitest";

import { roleNames, roleSchemas } from "../../shared/roles.ts";
import { firstMisfit } from "../../shared/schema-fit.ts";
import { toJSONSchema } from "../../shared/zod.ts";

const text = { type: "string" };
const asked = { type: "object", properties: { name: text }, required: ["name"], additionalProperties: false };
const takes = (more: object): object => ({ type: "object", properties: { name: text }, ...more });

test("each role's own schemas fit, closed or open", () => {
  for (const role of roleNames) {
    const { input, output } = roleSchemas[role];
    expect(firstMisfit(toJSONSchema(input, { io: "input" }), toJSONSchema(input))).toBeNull();
    expect(firstMisfit(toJSONSchema(output), toJSONSchema(output, { io: "input" }))).toBeNull();
  }
});

test.for<readonly [schema: object | boolean, misfit: string]>([
  [takes({ maxProperties: 0 }), "(all of it): maxProperties"],
  [takes({ unevaluatedProperties: false }), "(all of it): unevaluatedProperties"],
  [takes({ required: "name" }), "(all of it): required"],
  [takes({ properties: { name: { ...text, contains: {} } } }), "name: contains"],
  [takes({ properties: {}, additionalProperties: { type: "number" } }), "name"],
  [takes({ properties: { name: false } }), "name"],
  [takes({ type: [] }), "(all of it): type"],
  [{ properties: { name: { type: "number" } } }, "name"],
  [{ required: ["other"] }, "other"],
  [{ anyOf: [takes({})], required: ["other"] }, "(all of it): required"],
  [{ anyOf: [text, takes({ maxProperties: 0 })] }, "(all of it)"],
  [false, "(all of it)"],
])("%j refuses the role's schema", ([schema, misfit]) => {
  expect(firstMisfit(asked, schema)).toBe(misfit);
});

test.for<object | boolean>([
  takes({ title: "t", description: "d", examples: [], default: {}, $comment: "c" }),
  takes({ properties: { name: { ...text, minLength: 1, maxLength: 9, pattern: "^a", format: "uuid" } } }),
  takes({ properties: {}, additionalProperties: text }),
  takes({ type: ["null", "object", "object"] }),
  { anyOf: [text, takes({})] },
  { properties: { name: {} } },
  {},
  true,
])("control: %j accepts it", (schema) => {
  expect(firstMisfit(asked, schema)).toBeNull();
});

test("a nullable type fits a choice with null, and the other way round", () => {
  const [listed, chosen] = [{ type: ["string", "null"] }, { anyOf: [text, { type: "null" }] }];
  expect(firstMisfit(listed, chosen)).toBeNull();
  expect(firstMisfit(chosen, listed)).toBeNull();
  expect(firstMisfit(listed, text)).toBe("(all of it)");
});

const many = (value: unknown): unknown[] => Array.from({ length: 200 }, () => value);

test("compares types and choices that are repeated at every level quickly", () => {
  const nested = (type: unknown): object => {
    const field = { type: type === "object" ? "string" : many("string") };
    const items = { type, properties: { field }, required: ["field"] };
    const list = { type: type === "object" ? "array" : many("array"), items };
    return { type, properties: { list, others: list }, required: ["list", "others"] };
  };
  expect(firstMisfit(nested(many("object")), nested("object"))).toBeNull();
  expect(firstMisfit(nested("object"), nested(many("object")))).toBeNull();
});

test("what takes too long to compare does not fit", () => {
  const choices = { anyOf: many({ anyOf: many({ anyOf: many(text) }) }) };
  expect(firstMisfit(choices, text)).toBe("(all of it): more than 10000 schemas to compare");
});
