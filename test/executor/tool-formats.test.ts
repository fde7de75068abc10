/** The tools in the form of function-calling APIs, and whether their schemas accept the same inputs as the tools. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, testPlugin } from "../support/test-plugin.ts";
import { formats, offeredIn } from "./offered-tools.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir: folder.path, plugins: shippedNames(), threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

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

test("the formats of an API differ in the schema alone", () => {
  const [ownTool, chat, responses] = [
    runtime.tools({ format: "anthropic" })[0],
    runtime.tools({ format: "openai" })[0],
    runtime.tools({ format: "openai-responses" })[0],
  ];
  const { name, description, input_schema: parameters } = ownTool ?? {};
  expect(chat).toEqual({ type: "function", function: { name, description, parameters } });
  expect(responses).toEqual({ type: "function", name, description, parameters, strict: false });
});

test.for(formats)(
  "%s has a tool that takes anything as an object of any fields, which is not strict",
  async (format) => {
    const plugins = [testPlugin("puppet")];
    const options = { dataDir: folder.path, plugins, policy: policyFor(plugins), threadsMax: 1 };
    await using puppets = await createRuntime(options);
    for (const { schema, strict } of offeredIn(format, puppets)) {
      expect(schema).toEqual({ type: "object", properties: {} });
      expect(strict ?? false).toBe(false);
    }
  },
);

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

test.for(formats)("what a model is not offered is in no schema of the format %s", async (format) => {
  await using sharing = await createRuntime({
    dataDir: folder.path,
    plugins: ["stores"],
    threadsMax: 1,
    memory: { sharingByModels: true },
  });
  const fieldsIn = (offering: Runtime): string[] =>
    offeredIn(format, offering)
      .filter(({ name }) => name === "memory")
      .flatMap(({ schema }) => Object.keys(schema.properties ?? {}));
  expect(fieldsIn(sharing)).toEqual(expect.arrayContaining(["agent", "level"]));
  expect(fieldsIn(runtime)).not.toEqual(expect.arrayContaining(["agent"]));
  expect(fieldsIn(runtime)).not.toEqual(expect.arrayContaining(["level"]));
  expect(JSON.stringify(runtime.tools({ format }))).not.toContain('"share"');
});

const update = "UpdateUserMemory";
const read = "ReadUserMemory";
const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };

interface Row {
  readonly what: string;
  readonly tool: string;
  readonly input: unknown;
  readonly isValid: boolean;
}

const judgedAlike: readonly Row[] = [
  { what: "an entry", tool: update, input: entry, isValid: true },
  { what: "an entry with the longest name", tool: update, input: { ...entry, name: "n".repeat(100) }, isValid: true },
  { what: "a name that is too long", tool: update, input: { ...entry, name: "n".repeat(101) }, isValid: false },
  { what: "an empty name", tool: update, input: { ...entry, name: "" }, isValid: false },
  { what: "a path as a name", tool: update, input: { ...entry, name: "../a" }, isValid: false },
  { what: "a name with a line end", tool: update, input: { ...entry, name: "a\n" }, isValid: false },
  { what: "a name that is a number", tool: update, input: { ...entry, name: 1 }, isValid: false },
  { what: "no action", tool: update, input: { name: "a" }, isValid: false },
  { what: "an unknown action", tool: update, input: { ...entry, action: "append" }, isValid: false },
  { what: "an unknown type", tool: update, input: { ...entry, type: "secret" }, isValid: false },
  { what: "an empty description", tool: update, input: { ...entry, description: "" }, isValid: false },
  {
    what: "300 characters beyond 16 bits",
    tool: update,
    input: { ...entry, description: "😀".repeat(300) },
    isValid: true,
  },
  { what: "301 characters", tool: update, input: { ...entry, description: "d".repeat(301) }, isValid: false },
  { what: "an empty body", tool: update, input: { ...entry, body: "" }, isValid: true },
  { what: "the longest body", tool: update, input: { ...entry, body: "b".repeat(65_536) }, isValid: true },
  { what: "a body that is too long", tool: update, input: { ...entry, body: "b".repeat(65_537) }, isValid: false },
  { what: "an unknown field", tool: update, input: { ...entry, userId: "bob" }, isValid: false },
  { what: "a deletion", tool: update, input: { action: "delete", name: "a" }, isValid: true },
  { what: "a deletion with the rest", tool: update, input: { ...entry, action: "delete" }, isValid: true },
  { what: "a list", tool: update, input: [entry], isValid: false },
  { what: "a text", tool: update, input: "upsert", isValid: false },
  { what: "null", tool: update, input: null, isValid: false },
  { what: "a name", tool: read, input: { name: "a" }, isValid: true },
  { what: "no name", tool: read, input: {}, isValid: false },
  { what: "a name with its extension", tool: read, input: { name: "a.md" }, isValid: false },
  { what: "more than a name", tool: read, input: { name: "a", scope: "memory" }, isValid: false },
];

/** Inputs on which schema and tool differ, and why. The tool alone decides. */
const judgedApart: readonly (Row & { readonly why: string })[] = [
  ...["type", "description", "body"].map((field) => ({
    what: `an entry without ${field}`,
    tool: update,
    input: Object.fromEntries(Object.entries(entry).filter(([name]) => name !== field)),
    isValid: true,
    why: "models ignore unions at the top level of a schema, so only its text says what upsert needs",
  })),
  {
    what: "a description of two lines",
    tool: update,
    input: { ...entry, description: "a\nb" },
    isValid: true,
    why: "a pattern against all characters that end or hide a line is too long for a model to read",
  },
  {
    what: "a description of blanks",
    tool: update,
    input: { ...entry, description: "  " },
    isValid: true,
    why: "a pattern would be too long, as for two lines",
  },
  {
    what: "a body of more bytes than characters",
    tool: update,
    input: { ...entry, body: "é".repeat(40_000) },
    isValid: true,
    why: "JSON Schema counts characters and files are counted in bytes, as the field's text says",
  },
  {
    what: "a deletion with an unknown type",
    tool: update,
    input: { action: "delete", name: "a", type: 7 },
    isValid: false,
    why: "delete ignores the fields of upsert, which models often send along",
  },
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

test.for(judgedAlike)("schema and tool $tool agree on $what: $isValid", async ({ tool, input, isValid }) => {
  expect(schemaTakes(tool, input)).toEqual(plainFormats.map(() => isValid));
  expect(await toolTakes(tool, input)).toBe(isValid);
});

test.for(judgedApart)(
  "known difference: for $what the schema says $isValid, because $why",
  async ({ tool, input, isValid }) => {
    expect(schemaTakes(tool, input)).toEqual(plainFormats.map(() => isValid));
    expect(await toolTakes(tool, input)).toBe(!isValid);
  },
);
