/** The host refuses plugins whose tools do not fit their roles, or whose tools it could not tell apart. */

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { declarableCodes } from "../../shared/errors.ts";
import type { ManifestTool } from "../../shared/manifest.ts";
import { roleSchemas } from "../../shared/roles.ts";
import type { Role } from "../../shared/roles.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { writeEmptyPlugin } from "../stage/empty-plugin.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

type Changes = Partial<ManifestTool>;

/** A tool that meets all requirements of its role, with some changes. */
const roleTool = (role: Role, changes: Changes = {}): Changes => ({
  role,
  audience: "host",
  rights: role === "restore" ? ["write"] : [],
  input: toJSONSchema(roleSchemas[role].input, { io: "input" }),
  output: toJSONSchema(roleSchemas[role].output),
  ...changes,
});

/** Writes a plugin file with tools of these names. Its code does nothing. */
function pluginOf(family: string, tools: Readonly<Record<string, Changes>>): string {
  const exported = Object.fromEntries(Object.keys(tools).map((name) => [name, name.toLowerCase()]));
  const manifest = guestManifest(family, exported);
  const changed = manifest.tools.map((tool) => Object.assign(tool, tools[tool.name]));
  return writeEmptyPlugin(folder.path, { ...manifest, tools: changed });
}

const load = (...plugins: string[]) => createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins) });

const one = (type: string, more: object = {}) => ({
  type: "object",
  properties: { name: { type, ...more } },
  required: ["name"],
});
const entriesOf = (items: object) => ({
  type: "object",
  properties: { entries: { type: "array", items } },
  required: ["entries"],
});
const described = { name: { type: "string" }, description: { type: "string" } };
const finding = { problem: {}, path: {}, message: {}, remedy: {} };
const text = { type: "string" };
const seventeen = Array.from({ length: 17 }, (_, at) => `${at}.md`);
const findingsOf = (changes: object) => ({
  type: "object",
  properties: {
    findings: {
      type: "array",
      items: {
        type: "object",
        properties: { ...Object.fromEntries(Object.keys(finding).map((key) => [key, text])), ...changes },
        required: Object.keys(finding),
      },
    },
    findingsHidden: { type: "integer" },
  },
  required: ["findings", "findingsHidden"],
});

type Refused = readonly [name: string, role: Role, changes: Changes, reason: string];

// Schemas that do not fit: `test/unit/schema-fit.test.ts`. Here is one of each role's direction.
test.for<Refused>([
  ["a role without a scope", "read", { scopes: [] }, 'has the role "read" and 0 scopes, allowed is exactly one'],
  ["a role for two scopes", "inspect", { scopes: ["a", "b"] }, 'has the role "inspect" and 2 scopes'],
  ["an input without a field that a host can send", "index", { input: closed({}) }, 'what a host may ask: "linesMax"'],
  ["an input that requires more", "entries", { input: one("string") }, 'what a host may ask: "name"'],
  ["an input of another type", "read", { input: one("integer") }, 'what a host may ask: "name"'],
  ["an input with a reference", "read", { input: { $ref: "#/x" } }, 'what a host may ask: "(all of it): $ref"'],
  ["an output that says nothing", "read", { output: {} }, 'what a host relies on: "(all of it)"'],
  ["a list of something else", "entries", { output: entriesOf({ type: "string" }) }, '"entries[]"'],
  [
    "items that lack a field",
    "entries",
    { output: entriesOf({ type: "object", properties: described, required: ["name"] }) },
    'what a host relies on: "entries[].description"',
  ],
  ["a code beyond the table", "inspect", { output: withRefused({ enum: ["MINE"] }) }, '"refused[].code"'],
  ["a code of the host's", "inspect", { output: withRefused({ enum: ["STORAGE_FULL"] }) }, '"refused[].code"'],
  ["a restorer that may not write", "restore", { rights: ["read", "trash"] }, 'without the right "write"'],
  ["an adder that may not write", "add", { rights: ["read", "list"] }, 'without the right "write"'],
  ["a converter with a scope", "convert", { scopes: ["memory"] }, "and a scope or a right, allowed is none"],
  ["a converter with a right", "convert", { scopes: [], rights: ["clock"] }, "and a scope or a right, allowed is none"],
  ["an entryFile beside another role", "read", { entryFile: "{name}.md" }, 'entryFile "{name}.md" without the role'],
  ["an entryFile without a name", "entries", { entryFile: "a.md" }, 'the entryFile "a.md", allowed is a path'],
  ["an entryFile that climbs", "entries", { entryFile: "../{name}.md" }, "allowed is a path outside the trash"],
  ["an entryFile in the trash", "entries", { entryFile: "Trash/{name}.md" }, "allowed is a path outside the trash"],
  ["derivedFiles beside another role", "read", { derivedFiles: ["a.md"] }, 'derivedFiles without the role "inspect"'],
  ["17 derivedFiles", "inspect", { derivedFiles: seventeen }, "has 17 derivedFiles, at most 16"],
  [
    "a derived file that is there twice",
    "inspect",
    { derivedFiles: ["a/", "b", "a/"] },
    '"a/" among its derivedFiles more',
  ],
  ...["", "a//", "/a", "a/../b", ".hidden", "a*", "trash/", "TRASH/a.md"].map((place): Refused => [
    `the derived file "${place}"`,
    "inspect",
    { derivedFiles: ["b", place] },
    `has "${place}" among its derivedFiles, allowed is a path`,
  ]),
])("%s is refused", async ([, role, changes, reason]) => {
  const file = pluginOf("guest", { Tool: roleTool(role, changes) });
  const message = expect.stringContaining(reason) as string;
  await expect(load(file)).rejects.toMatchObject({ code: "PLUGIN_REFUSED", message });
});

function closed(properties: object): Record<string, unknown> {
  return { type: "object", properties, additionalProperties: false };
}

function withRefused(code: object): Record<string, unknown> {
  const output = findingsOf({});
  const refused = { type: "object", properties: { path: text, code: { type: "string", ...code }, reason: text } };
  const items = { ...refused, required: ["path", "code", "reason"] };
  return { ...output, properties: { ...output.properties, refused: { type: "array", items } } };
}

test("a plugin with two tools of one role is refused", async () => {
  const file = pluginOf("guest", { A: roleTool("index"), B: roleTool("index") });
  const message = expect.stringContaining('gives the role "index" to 2 tools, at most one may have it') as string;
  await expect(load(file)).rejects.toMatchObject({ code: "PLUGIN_REFUSED", message });
});

test.for<readonly [name: string, role: Role, changes: Changes]>([
  ["the role's own schemas", "inspect", {}],
  ["an index of two scopes", "index", { scopes: ["a", "b"] }],
  [
    "narrower texts with a description",
    "read",
    { input: one("string", { pattern: "^a$", maxLength: 9, description: "x" }) },
  ],
  ["an input that takes anything", "inspect", { input: {} }],
  [
    "an answer with more fields",
    "entries",
    { output: entriesOf({ ...closed({ ...described, tags: { type: "array" } }), required: ["name", "description"] }) },
  ],
  ["some codes of the table", "inspect", { output: withRefused({ enum: declarableCodes.slice(0, 2) }) }],
  ["files of entries", "entries", { entryFile: "notes/{name}.txt" }],
  ["derived files and folders", "inspect", { derivedFiles: ["a", "a/", "_.index/", "sub/b.md", "trashed/"] }],
])("control: %s is accepted", async ([, role, changes]) => {
  await using runtime = await load(pluginOf("guest", { Tool: roleTool(role, changes) }));
  expect(runtime.tools()).toEqual([]);
  // A plugin has memory if a host can show any of it.
  expect(runtime.hasMemory).toBe(runtime.families().length > 0);
});

test("two plugins with one role for one scope are refused, and both are named; several may have an index", async () => {
  for (const role of ["entries", "read", "inspect", "restore"] as const) {
    const plugins = [pluginOf("one", { A: roleTool(role) }), pluginOf("two", { B: roleTool(role) })];
    const reason = `Cannot load plugin "two": the plugin "one", which is loaded too, has the role "${role}" for the scope "memory" as well`;
    await expect(load(...plugins)).rejects.toMatchObject({ code: "PLUGIN_REFUSED", message: reason });
  }
  await using _ = await load(pluginOf("one", { A: roleTool("index") }), pluginOf("two", { B: roleTool("index") }));
});

test("a name belongs to one tool for models, but several plugins' tools for programs may share it", async () => {
  const forModels = { Tool: { audience: "model" } } as const;
  const forHosts = { Tool: { audience: "host" } } as const;
  await expect(load(pluginOf("one", forModels), pluginOf("two", forModels))).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: 'Cannot load plugin "two": the plugin "one", which is loaded too, offers models the tool "Tool" as well',
  });
  await using runtime = await load(pluginOf("one", forHosts), pluginOf("two", forHosts), pluginOf("three", forModels));
  expect(runtime.tools().map(({ name }) => name)).toEqual(["Tool"]);
  const ctx = { userId: "alice" };
  expect(await runtime.callAsHost("Tool", {}, ctx)).toMatchObject({
    error: {
      code: "TOOL_UNKNOWN",
      message: 'Cannot call "Tool": several plugins have it, allowed: one/Tool, two/Tool',
    },
  });
  for (const name of ["Tool", "three/Tool"]) {
    const only = [pluginOf("three", forModels)];
    await using models = await load(...only);
    expect(await models.callAsHost(name, {}, ctx)).toMatchObject({
      error: {
        code: "TOOL_UNKNOWN",
        message: `Cannot call "${name}": it is a tool for models, allowed are tools for programs`,
      },
    });
  }
  // The call reaches the tool, whose code gives no answer.
  expect(await runtime.callAsHost("two/Tool", {}, ctx)).toMatchObject({ error: { code: "OUTPUT_INVALID" } });
  for (const name of ["three/Tool", "Other", "one/Other", "one", "/Tool", ""]) {
    expect(await runtime.callAsHost(name, {}, ctx)).toMatchObject({ error: { code: "TOOL_UNKNOWN" } });
  }
});
