/** The pages of the tools: their tables, their error codes and their examples are those of the tools. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { Ajv2020 } from "ajv/dist/2020.js";
import { createRuntime } from "memcell";
import type { Runtime, ToolDescription } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { firstDifference, withTables } from "../../build/tool-page.ts";
import { errorCodes } from "../../shared/errors.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { readVectors } from "../conformance/vector.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { codeIn, tableBelow } from "./markdown-table.ts";

const folder = temporaryFolder();
const clock = (): number => Date.UTC(2026, 0, 2, 3, 4, 5);
const plugins = ["user-memory", "run-history"];
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir: folder.path, plugins, threadsMax: 1, clock });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

interface Page {
  readonly plugin: string;
  /** The plugin's own codes that a call can answer. */
  readonly ownCodes: readonly string[];
  /** Why no call answers a code of the table. */
  readonly neverAnswered: Partial<Record<ErrorCode, string>>;
  /** Stores what the page's examples read. */
  readonly before?: (userId: string) => Promise<unknown>;
}

const ofNoCall: Page["neverAnswered"] = {
  PLUGIN_REFUSED: "a runtime is not made then",
  READ_ONLY: "a tool that changes something is then unknown",
};

const pages: Readonly<Record<string, Page>> = {
  UpdateUserMemory: {
    plugin: "user-memory",
    ownCodes: [],
    neverAnswered: { ...ofNoCall },
  },
  ReadUserMemory: {
    plugin: "user-memory",
    ownCodes: [],
    neverAnswered: {
      ...ofNoCall,
      NAME_CONFLICT: "it makes no name",
      QUOTA_EXCEEDED: "it stores nothing",
    },
    before: (userId) => play("UpdateUserMemory", userId, examplesIn("UpdateUserMemory").slice(0, 1)),
  },
  SearchUserMemory: {
    plugin: "user-memory",
    ownCodes: [],
    neverAnswered: {
      ...ofNoCall,
      ENTRY_NOT_FOUND: "what is not there is not found",
      ENTRY_UNREADABLE: "entries that cannot be read are passed over",
      NAME_RESERVED: "it makes no name",
      NAME_CONFLICT: "it makes no name",
    },
    before: (userId) => play("UpdateUserMemory", userId, examplesIn("UpdateUserMemory").slice(0, 1)),
  },
  ReadRunHistory: {
    plugin: "run-history",
    ownCodes: ["AGENT_ID_REQUIRED", "RUN_ID_REQUIRED"],
    neverAnswered: {
      ...ofNoCall,
      ENTRY_NOT_FOUND: "a run that does not exist has no events",
      ENTRY_UNREADABLE: "files that cannot be read are passed over",
      NAME_RESERVED: "it makes no name",
    },
    before: appendTurn,
  },
};

const names = Object.keys(pages);
const pageNamed = (name: string): Page => pages[name] as Page;
const pageOf = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../plugin/${pageNamed(name).plugin}/${name}.md`, import.meta.url)), "utf8");

test("every tool that a model may call has a page, and the plugin has it as it is", () => {
  expect(
    runtime
      .tools()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names.toSorted());
  for (const name of names) expect(runtime.documentation(name)).toBe(pageOf(name));
});

const event = (type: string, timestamp: string, data: object): object => ({
  type,
  timestamp: `2026-01-02T03:04:${timestamp}Z`,
  data: JSON.stringify(data),
});

/** The turn that the page of `ReadRunHistory` shows. */
function appendTurn(userId: string): Promise<unknown> {
  const call = { tool_call_id: "t1", tool_name: "calendar.find" };
  const resultJson = '{"title":"Release 4.2","day":"Tuesday"}';
  const result = { ...call, preview: "1 event", result_json: resultJson, server_data: '{"row":17}', duration: 3e8 };
  const events = [
    event("user_message", "05", { message: "When is the release?" }),
    event("tool_call", "06.5", { ...call, payload: '{"q":"release"}' }),
    event("tool_result", "06.8", result),
    event("assistant_message", "07", { message: "On Tuesday." }),
  ];
  return runtime.callAsHost("AppendRunEvents", { agentId: "planner", runId: "run-1", events }, { userId });
}

function toolNamed(name: string): ToolDescription {
  const tool = runtime.tools().find((each) => each.name === name);
  if (!tool) throw new Error(`No tool is called ${name}`);
  return tool;
}

describe.each(names)("%s", (name) => {
  test("the tables of its page are those of its schemas", () => {
    const { inputSchema, outputSchema } = toolNamed(name);
    const page = pageOf(name);
    expect(firstDifference(page, withTables(page, { name, input: inputSchema, output: outputSchema }))).toBeNull();
  });

  test("its page names each error code that a call can answer, once, and no other", () => {
    const named = tableBelow(pageOf(name), "Errors").flatMap(([codes = ""]) => codeIn(codes));
    const { ownCodes, neverAnswered } = pageNamed(name);
    const answered = errorCodes.filter((code) => neverAnswered[code] === undefined);
    expect(named.toSorted()).toEqual([...answered, ...ownCodes].toSorted());
    const anywhere = codeIn(pageOf(name)).filter((each) => /^[A-Z]+_[A-Z_]+$/.test(each));
    expect(anywhere.filter((code) => !named.includes(code))).toEqual([]);
  });

  test("no vector has it answer a code that its page does not name", () => {
    const { plugin } = pageNamed(name);
    const own = readVectors().filter(({ vector }) => (vector.plugin ?? "user-memory") === plugin);
    const calls = own.flatMap(({ vector }) => vector.calls);
    const failures = calls.filter(({ tool, result }) => tool === name && result["ok"] === false);
    const codes = new Set(failures.map(({ result }) => (result["error"] as { code: string }).code));
    expect(codes.size).toBeGreaterThan(2);
    expect([...codes].filter((code) => !pageOf(name).includes(`\`${code}\``))).toEqual([]);
  });

  test("its examples answer what its page says, in their order", async () => {
    const userId = `reader of ${name}`;
    await pageNamed(name).before?.(userId);
    const examples = examplesIn(name);
    expect(examples.length).toBeGreaterThan(1);
    expect(await play(name, userId, examples)).toEqual(examples.map(({ result }) => result));
  });

  test("its schemas are JSON Schemas that function-calling APIs take, and tell what each field is", () => {
    const { description, inputSchema, outputSchema } = toolNamed(name);
    expect(description.length).toBeGreaterThan(80);
    for (const schema of [inputSchema, outputSchema]) {
      expect(schema).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" });
      expect(Object.keys(schema).filter((key) => ["oneOf", "anyOf", "allOf", "$ref", "not"].includes(key))).toEqual([]);
      const undescribed = Object.entries(schema["properties"] as Record<string, { description?: string }>)
        .filter(([, field]) => (field.description ?? "").length < 10)
        .map(([field]) => field);
      expect(undescribed).toEqual([]);
    }
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    const [isInput, isOutput] = [ajv.compile(inputSchema), ajv.compile(outputSchema)];
    for (const { input, result } of examplesIn(name)) {
      expect(isInput(input)).toBe(true);
      if (result.ok) expect(isOutput(result.data)).toBe(true);
    }
    expect(isInput({ unknown: 1 })).toBe(false);
    expect(isOutput({})).toBe(false);
  });
});

interface Example {
  readonly input: unknown;
  readonly result: { readonly ok: boolean; readonly data?: unknown };
}

/** Each input of a page, and the result behind it. */
function examplesIn(name: string): Example[] {
  const blocks = pageOf(name).matchAll(/```json input\n([\s\S]*?)```\n+```json result\n([\s\S]*?)```/g);
  return Array.from(blocks, ([, input = "", result = ""]) => ({
    input: JSON.parse(input) as unknown,
    result: JSON.parse(result) as Example["result"],
  }));
}

async function play(tool: string, userId: string, examples: readonly Example[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { input } of examples) results.push(await runtime.call(tool, input, { userId }));
  return results;
}

test("what a model reads of UpdateUserMemory says when each type is used", () => {
  const { description, inputSchema } = toolNamed("UpdateUserMemory");
  const types = inputSchema["properties"] as { type: { enum: string[]; description: string } };
  expect(types.type.enum).toEqual(["user", "feedback", "project", "reference"]);
  const rows = tableBelow(pageOf("UpdateUserMemory"), "When to write").map(([type = ""]) => codeIn(type)[0]);
  expect(rows).toEqual(types.type.enum);
  for (const text of [description, types.type.description]) {
    for (const type of types.type.enum) expect(text).toMatch(new RegExp(`\\b${type}\\b`));
  }
});

test.for(["PromptIndex", "ListEntries", "Nothing", "toString", ""])("%j has no page: it is no model's tool", (name) => {
  expect(() => runtime.documentation(name)).toThrow(
    expect.objectContaining({ code: "TOOL_UNKNOWN", message: expect.stringContaining("allowed: UpdateUserMemory") }),
  );
});
