/** The pages of the tools: their tables, their error codes and their examples are those of the tools. */
import { readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import { createRuntime } from "memcell";
import type { Runtime, ToolDescription } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { firstDifference, withTables } from "../../build/tool-page.ts";
import { errorCodes } from "../../shared/errors.ts";
import { readVectors } from "../conformance/vector.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles } from "../support/user-files.ts";
import { codeIn, tableBelow } from "./markdown-table.ts";
import { examplesIn, pageNamed, pageOf, pages } from "./tool-pages.ts";
import { textOf } from "./tracked-files.ts";

const folder = temporaryFolder();
const clock = (): number => Date.UTC(2026, 0, 2, 3, 4, 5);
const others = shippedNames().filter((name) => name !== "user-memory");
const plugins = [...["user-memory", ...others].map(shippedPlugin), testPlugin("sample")];
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins), threadsMax: 1, clock });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const names = Object.keys(pages);
/** Its page is a table of commands, and its examples are inputs alone. */
const memoryPage = textOf("plugin/stores/memory.md");

test("every tool that a model may call has a page, and the plugin has it as it is", () => {
  const offered = runtime.tools().map(({ name }) => name);
  expect(offered.toSorted()).toEqual([...names, "memory"].toSorted());
  for (const name of names) expect(runtime.documentation(name)).toBe(pageOf(name));
  expect(runtime.documentation("memory")).toBe(memoryPage);
});

test("the page of memory has codes that its plugin has, and examples that work", async () => {
  const declared = manifestOf(readFileSync(shippedPlugin("stores"))).errors?.map(({ code }) => code) ?? [];
  const named = tableBelow(memoryPage, "Errors").flatMap(([codes = ""]) => codeIn(codes));
  // Only programs call the tool with this code.
  const ofModels = declared.filter((code) => code !== "BATCH_TOO_LARGE");
  expect(ofModels.filter((code) => !named.includes(code))).toEqual([]);
  expect(named.filter((code) => !declared.includes(code) && !errorCodes.some((each) => each === code))).toEqual([]);
  const [, block = ""] = /## Examples\n\n```json\n([\s\S]*?)\n```/.exec(memoryPage) ?? [];
  const inputs = block.split("\n").map((line) => JSON.parse(line) as { path?: string });
  const [, id = "", key = ""] = /^\/memories\/shared\/([^/]+)\/(.+)$/.exec(inputs.at(-1)?.path ?? "") ?? [];
  const reader = { userId: "reader", stores: [{ id, kind: "chat" }] } as const;
  await runtime.call(
    "memory",
    { command: "create", path: `/memories/shared/${id}/${key}`, content: "1. Read" },
    reader,
  );
  const results = [];
  for (const each of inputs) results.push(await runtime.call("memory", each, reader));
  expect(results.map(({ ok }) => ok)).toEqual(inputs.map(() => true));
});

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

  test("its page names error codes once, in its table, and they are the contract's or the plugin's own", () => {
    const named = tableBelow(pageOf(name), "Errors").flatMap(([codes = ""]) => codeIn(codes));
    const wasm = readFileSync(
      [shippedPlugin, testPlugin][name.startsWith("sample") ? 1 : 0]?.(pageNamed(name).plugin) ?? "",
    );
    const own = manifestOf(wasm).errors?.map(({ code }) => code) ?? [];
    expect(new Set(named).size).toBe(named.length);
    expect(named.filter((code) => !own.includes(code) && !errorCodes.some((each) => each === code))).toEqual([]);
    const ofEvery = ["INPUT_INVALID", "TOOL_UNKNOWN", "USER_INVALID", "BUSY", "CANCELLED", "CLOSED", "INTERNAL"];
    expect(ofEvery.filter((code) => !named.includes(code))).toEqual([]);
    // What no call answers: a runtime is not made then, or a tool that changes something is unknown.
    for (const code of ["PLUGIN_REFUSED", "READ_ONLY"]) expect(named).not.toContain(code);
    const anywhere = codeIn(pageOf(name)).filter((each) => /^[A-Z]+_[A-Z_]+$/.test(each));
    expect(anywhere.filter((code) => !named.includes(code))).toEqual([]);
  });

  test("no vector has it answer a code that its page does not name", () => {
    const { plugin } = pageNamed(name);
    const own = readVectors().filter(({ vector }) => (vector.plugin ?? "user-memory") === plugin);
    const calls = own.flatMap(({ vector }) => vector.calls);
    const failures = calls.filter(({ tool, result }) => tool === name && result["ok"] === false);
    const codes = new Set(failures.map(({ result }) => (result["error"] as { code: string }).code));
    expect(codes.size).toBeGreaterThan(0);
    expect([...codes].filter((code) => !pageOf(name).includes(`\`${code}\``))).toEqual([]);
  });

  test("its examples answer what its page says, in their order", async () => {
    const userId = `reader of ${name}`;
    await pageNamed(name).before?.(runtime, userId);
    const examples = examplesIn(pageOf(name));
    expect(examples.length).toBeGreaterThan(1);
    expect(await play(name, userId, examples)).toEqual(examples.map(({ result }) => result));
  });

  test("the files of the user have the lines that its page shows, after the examples above them", async () => {
    const parts = pageOf(name).split("```text\n");
    for (const [at, part] of parts.slice(1).entries()) {
      const userId = `reader ${at} of the files of ${name}`;
      await pageNamed(name).before?.(runtime, userId);
      await play(name, userId, examplesIn(parts.slice(0, at + 1).join("")));
      const [shown = ""] = part.split("```");
      expect(Object.values(readUserFiles(folder.path, userId)).filter((text) => text.includes(shown))).toHaveLength(1);
    }
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
    for (const { input, result } of examplesIn(pageOf(name))) {
      if (result.ok) expect([isInput(input), isOutput(result.data)]).toEqual([true, true]);
    }
    expect(isInput({ unknown: 1 })).toBe(false);
    expect(isOutput({})).toBe(false);
  });
});

async function play(tool: string, userId: string, examples: ReturnType<typeof examplesIn>): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { input } of examples) results.push(await runtime.call(tool, input, { userId }));
  return results;
}

test.for(["PromptIndex", "ListEntries", "Nothing", "toString", ""])("%j has no page: it is no model's tool", (name) => {
  expect(() => runtime.documentation(name)).toThrow(
    expect.objectContaining({ code: "TOOL_UNKNOWN", message: expect.stringContaining("allowed: UpdateUserMemory") }),
  );
});
