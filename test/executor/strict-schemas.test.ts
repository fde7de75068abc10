/** The schemas for strict modes: APIs take each of them, and tools take what a model sends by them. */
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ObjectSchema } from "memcell";
import { toStrictJsonSchema } from "openai/lib/transform";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { offeredIn } from "./offered-tools.ts";
import { strictFaults } from "./strict-faults.ts";

const plugins = [...shippedNames().map(shippedPlugin), testPlugin("sample")];
const memory = { sharingByModels: true };
const stage = await openStage({ plugins, policy: policyFor(plugins), threadsMax: 1, memory });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const dialects = [
  { format: "anthropic-strict", api: "anthropic" },
  { format: "openai-strict", api: "openai" },
  { format: "openai-responses-strict", api: "openai" },
] as const;

test.for(dialects)("$format: every tool of every family has a schema that the API takes", ({ format, api }) => {
  const tools = offeredIn(format, runtime);
  expect(tools.length).toBeGreaterThan(9);
  expect(tools.filter(({ strict }) => strict !== true)).toEqual([]);
  expect(tools.flatMap(({ name, schema }) => strictFaults(schema, api).map((fault) => `${name} ${fault}`))).toEqual([]);
});

test.for(dialects)("$format: the declared schemas themselves would be refused", ({ api }) => {
  const refused = runtime.tools().filter(({ inputSchema }) => strictFaults(inputSchema, api).length > 0);
  expect(refused.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["UpdateUserMemory", "memory", "memory_write"]),
  );
});

test("OpenAI's SDK finds nothing to change", () => {
  for (const { schema } of offeredIn("openai-strict", runtime))
    expect(toStrictJsonSchema(schema as Parameters<typeof toStrictJsonSchema>[0])).toEqual(schema);
});

test("Anthropic's SDK finds no keyword that its API does not take", () => {
  for (const { schema } of offeredIn("anthropic-strict", runtime)) {
    const transformed = transformJSONSchema(schema);
    expect(transformed).toEqual(withoutTypeOfEnums(schema));
  }
});

/** The SDK leaves the type of an enum away. */
function withoutTypeOfEnums(schema: ObjectSchema): unknown {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || !("enum" in value) || !("type" in value)) return value;
    const { type: _, ...rest } = value;
    return rest;
  });
}

test("Anthropic's limits for all strict tools of a request have room for the tools of the package", () => {
  const tools = offeredIn("anthropic-strict", runtime).filter(({ name }) => !name.startsWith("sample"));
  const fields = tools.flatMap(({ schema }) =>
    Object.entries(schema.properties ?? {}).map(([name, field]) => ({
      field,
      isNeeded: schema.required?.includes(name),
    })),
  );
  const unions = fields.filter(({ field }) => "anyOf" in field || ("type" in field && Array.isArray(field["type"])));
  expect(tools.length).toBeLessThanOrEqual(20);
  expect(fields.filter(({ isNeeded }) => isNeeded !== true).length).toBeLessThanOrEqual(24);
  expect(unions.length).toBeLessThanOrEqual(16);
});

const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
const path = "/memories/a.md";
const run = { agentId: "planner", runId: "run-1" };

/** One story for each tool, with every command. What is left out is what a model in a strict mode cannot leave out. */
const stories: readonly (readonly [tool: string, input: Record<string, unknown>])[] = [
  ["UpdateUserMemory", entry],
  ["ReadUserMemory", { name: "a" }],
  ["SearchUserMemory", { query: "text", type: "user" }],
  ["UpdateUserMemory", { action: "delete", name: "a" }],
  ["memory_write", { key: "k", content: "text" }],
  ["memory_write", { key: "l", content: "text", tags: ["t"], target: "summary" }],
  ["memory_update", { key: "k", content: "new text" }],
  ["memory_read", { key: "k" }],
  ["memory_search", { query: "text", tags: ["t"], limit: 1 }],
  ["ReadRunHistory", { ...run, types: ["thinking"], last: 1, charsMax: 500 }],
  ["memory", { command: "create", path, content: "text" }],
  ["memory", { command: "create", path: "/memories/list", content: ["a", 1, true, null], ttl: 60 }],
  ["memory", { command: "view", path }],
  ["memory", { command: "edit", path, old_str: "text", new_str: "new text" }],
  ["memory", { command: "search", query: "new" }],
  ["memory", { command: "rename", path, new_str: "/memories/b.md" }],
  ["memory", { command: "delete", path: "/memories/b.md" }],
  ["memory", { command: "share", agent: "20000000-0000-4000-8000-000000000002" }],
  ["memory", { command: "unshare", agent: "20000000-0000-4000-8000-000000000002" }],
  ["memory", { command: "edit", path }],
  ["sample_write", { name: "a", text: "t" }],
  ["sample_read", { name: "a" }],
];

test("a model in OpenAI's strict mode gets the answers that any other gets", async () => {
  const tools = new Map(offeredIn("openai-strict", runtime).map(({ name, schema }) => [name, schema]));
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  for (const [tool, input] of stories) {
    const schema = tools.get(tool);
    const names = Object.keys(schema?.properties ?? {});
    const sent = { ...Object.fromEntries(names.map((name) => [name, null])), ...input };
    expect({ tool, sent, isValid: ajv.validate(schema ?? false, sent) }).toEqual({ tool, sent, isValid: true });
    const [plain, strict] = [await answer("plain", tool, input), await answer("strict", tool, sent)];
    expect({ tool, sent, answer: strict }).toEqual({ tool, sent, answer: plain });
  }
  expect(new Set(stories.map(([tool]) => tool))).toEqual(new Set(tools.keys()));
});

/** Without what depends on the user or the time. A field that upsert needs is named by its value. */
async function answer(userId: string, tool: string, input: unknown): Promise<string> {
  const result = await runtime.call(tool, input, { userId });
  const text = result.ok ? `ok: ${result.message}` : `${result.error.code}: ${result.error.message}`;
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "(store)")
    .replaceAll(/\d{8}T\d{9}Z/g, "(time)")
    .replaceAll(/ is (null|missing), /g, " is nothing, ");
}
