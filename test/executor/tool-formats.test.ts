/** The tools in the form of function-calling APIs, and whether their schemas accept the same inputs as the tools. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { createRuntime, memoryStore } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { formats, offeredIn } from "./offered-tools.ts";

const stage = await openStage({ threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

test.for(formats)("%s has each tool once, with its purpose and one object as its input", (format) => {
  const tools = runtime.tools();
  const offered = offeredIn(format, runtime);
  expect(offered.map(({ name, description }) => ({ name, description }))).toEqual(
    tools.map(({ name, description }) => ({ name, description })),
  );
  expect(new Set(offered.map(({ name }) => name)).size).toBe(offered.length);
  for (const { name, schema, strict } of offered) {
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    for (const keyword of ["$schema", "oneOf", "anyOf", "allOf", "not"]) expect(schema).not.toHaveProperty(keyword);
    const ofForm = format === "openai-responses" ? false : undefined;
    expect(strict).toBe(format.endsWith("strict") ? true : ofForm);
  }
});

test.for(formats)("a change to a tool in the format %s does not reach the runtime", (format) => {
  const before = JSON.stringify(runtime.tools({ format }));
  for (const { schema } of offeredIn(format, runtime)) overwrite(schema);
  expect(JSON.stringify(runtime.tools({ format }))).toBe(before);
});

/** Empties each object and list. */
function overwrite(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.values(value).forEach(overwrite);
  for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
}

test("a tool that takes anything takes an object of any fields, and is not strict", async () => {
  const plugins = [testPlugin("puppet")];
  const options = { store: memoryStore(), plugins, policy: policyFor(plugins), threadsMax: 1 };
  await using puppets = await createRuntime(options);
  for (const { schema, strict } of formats.flatMap((format) => offeredIn(format, puppets))) {
    expect(schema).toEqual({ type: "object", properties: {} });
    expect(strict ?? false).toBe(false);
  }
});

test.for<readonly [what: string, options: unknown, message: string]>([
  ["an unknown format", { format: "gemini" }, 'format is "gemini", allowed: "anthropic", '],
  ["a property of every object", { format: "constructor" }, 'format is "constructor", allowed: '],
  ["a format of another type", { format: 5 }, "format is 5, allowed: "],
  ["null", { format: null }, "format is null, allowed: "],
  ["an unknown option", { shape: "openai" }, 'unknown option "shape"; did you mean "format"?'],
  ["options that are no object", "openai", 'the options are "openai"; expected an object'],
])("%s is refused", ([, options, message]) => {
  const list = (): unknown => runtime.tools(options as { format: "openai" });
  expect(list).toThrow(expect.objectContaining({ name: "ToolError", code: "INPUT_INVALID" }));
  expect(list).toThrow(`Cannot list the tools: ${message}`);
});

test("what a model is not offered is in no schema", async () => {
  const options = { store: memoryStore(), plugins: ["stores"], threadsMax: 1, memory: { sharingByModels: true } };
  await using sharing = await createRuntime(options);
  for (const format of formats) {
    const fieldsIn = (offering: Runtime): string[] => {
      const memory = offeredIn(format, offering).find(({ name }) => name === "memory");
      return Object.keys(memory?.schema.properties ?? {}).filter((name) => name === "agent" || name === "level");
    };
    expect([fieldsIn(sharing).toSorted(), fieldsIn(runtime)]).toEqual([["agent", "level"], []]);
    expect(JSON.stringify(runtime.tools({ format }))).not.toContain('"share"');
  }
});

const update = "UpdateUserMemory";

const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };

const judged: readonly (readonly [what: string, tool: string, input: unknown, isValid: boolean])[] = [
  ["a name that is too long", update, { ...entry, name: "n".repeat(101) }, false],
  ["a name with a line end", update, { ...entry, name: "a\n" }, false],
  ["no action", update, { name: "a" }, false],
  ["300 characters beyond 16 bits", update, { ...entry, description: "😀".repeat(300) }, true],
  ["301 characters", update, { ...entry, description: "d".repeat(301) }, false],
  ["an unknown field", update, { ...entry, userId: "bob" }, false],
  ["a deletion with the rest", update, { ...entry, action: "delete" }, true],
  ["a list", update, [entry], false],
];

/** Inputs on which schema and tool differ: the tool alone decides. */
const judgedApart: typeof judged = [
  // Models ignore unions at the top level of a schema, so only its text says what upsert needs.
  ["an entry without type", update, { ...entry, type: undefined }, true],
  // A pattern against all characters that end or hide a line is too long for a model to read.
  ["a description of two lines", update, { ...entry, description: "a\nb" }, true],
  // JSON Schema counts characters and files are counted in bytes, as the field's text says.
  ["a body of more bytes than characters", update, { ...entry, body: "é".repeat(40_000) }, true],
  // What a deletion ignores, which models often send along.
  ["a deletion with an unknown type", update, { action: "delete", name: "a", type: 7 }, false],
];

const plainFormats = formats.filter((format) => !format.endsWith("strict"));

/** Whether ajv accepts the input with the schema of each format in which the API does not enforce it. */
function schemaTakes(tool: string, input: unknown): boolean[] {
  return plainFormats
    .flatMap((format) => offeredIn(format, runtime).filter(({ name }) => name === tool))
    .map(({ schema }) => new Ajv2020({ strict: true }).compile(schema)(input));
}

async function toolTakes(tool: string, input: unknown): Promise<boolean> {
  const result = await runtime.call(tool, input, { userId: "alice" });
  return result.ok || result.error.code !== "INPUT_INVALID";
}

test.for(judged)("schema and tool agree on %s", async ([, tool, input, isValid]) => {
  expect(schemaTakes(tool, input)).toEqual(plainFormats.map(() => isValid));
  expect(await toolTakes(tool, input)).toBe(isValid);
});

test.for(judgedApart)("schema and tool differ, as known, on %s", async ([, tool, input, isValid]) => {
  expect(schemaTakes(tool, input)).toEqual(plainFormats.map(() => isValid));
  expect(await toolTakes(tool, input)).toBe(!isValid);
});
