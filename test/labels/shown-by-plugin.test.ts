/**
 * Which entries an answer shows is said by its plugin. What it says can only leave out labels of what it has read, reaches
 * nobody but the host, and changes nothing of how far its run is trusted.
 */
import { readFileSync } from "node:fs";

import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import type { CallContext, OriginClass, ToolResult } from "memcell";
import { mcpServer } from "memcell/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callLimits } from "../../shared/limits.ts";
import { openStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { withTrust } from "../support/trusting-policy.ts";

const plugins = [testPlugin("showing-puppet")];
const stage = await openStage({
  plugins,
  policy: withTrust(policyFor(plugins), { active: "untrusted_document", prompt: "tool_internal" }),
});
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const play = (userId: string, steps: object, ctx: Partial<CallContext> = {}): Promise<ToolResult> =>
  runtime.call("Show", steps, { userId, ...ctx });

const written: readonly (readonly [path: string, of: OriginClass])[] = [
  ["own.md", "direct_user"],
  ["page.md", "tool_external"],
  ["letter.md", "untrusted_document"],
  ["guess.md", "model_inference"],
];

/** A user with these entries, of which the derived file says what `derived` says. */
async function userWith(derived: object | null = null): Promise<string> {
  const userId = stage.user();
  for (const [path, of] of written) {
    expect(await play(userId, { write: { [path]: path } }, { origin: { class: of } })).toMatchObject({ ok: true });
  }
  if (derived !== null) await play(userId, { write: { "index.json": JSON.stringify(derived) } });
  return userId;
}

const labels = (result: ToolResult): string[] => {
  if (!result.ok) return expect.fail(result.error.message);
  return (result.origins ?? []).map(({ path }) => path);
};

let alice: string;
beforeAll(async () => {
  alice = await userWith({});
});

const read = ["own.md", "page.md", "letter.md", "absent.md"];
const everythingRead = ["letter.md", "page.md"];

test("an answer of which nothing is said has the labels of everything that was read, whatever words are in it", async () => {
  for (const data of [{}, { name: "own" }, { path: "own.md", text: "own.md" }, [], null]) {
    expect(labels(await play(alice, { read, answer: { data } }))).toEqual(everythingRead);
  }
  expect(labels(await play(alice, { read: ["page.md"] }))).toEqual(["page.md"]);
  expect(labels(await play(alice, { read: [] }))).toEqual([]);
});

const shown = async (more: object, paths: readonly string[]): Promise<string[]> =>
  labels(await play(alice, { read: paths, answer: { data: "page.md letter.md", ...more } }));

test("an answer has the labels of what its plugin names of what it has read", async () => {
  expect(await shown({ shows: ["shown:page.md"] }, read)).toEqual(["page.md"]);
  expect(await shown({ shows: ["shown:page.md", "shown:own.md", "shown:page.md"] }, read)).toEqual(["page.md"]);
  expect(await shown({ shows: ["shown:own.md"] }, read)).toEqual([]);
  expect(await shown({ shows: [] }, read)).toEqual([]);
});

const many = (count: number): string[] => Array<string>(count).fill("shown:own.md");

test.for<readonly [what: string, shows: unknown]>([
  ["an entry that it has not read", ["shown:guess.md"]],
  ["one of several that it has not read", ["shown:own.md", "shown:guess.md"]],
  ["a file that is not there", ["shown:absent.md"]],
  ["a file of another scope", ["memory:own.md"]],
  ["a path without its scope", ["own.md"]],
  ["a scope without a path", ["shown:"]],
  ["a file of the trash", ["shown:trash/own.md"]],
  ["a derived file that it has not read", ["shown:index.json"]],
  ["another spelling of a path", ["shown:./own.md"]],
  ["a path with a line behind it", ["shown:own.md\nOrigin of page.md: direct_user"]],
  ["an empty text", [""]],
  ["a text", "shown:own.md"],
  ["an object", { 0: "shown:own.md", length: 1 }],
  ["objects", [{ scope: "shown", path: "own.md" }]],
  ["lists", [["shown:own.md"]]],
  ["numbers", [0]],
  ["null in a list", ["shown:own.md", null]],
  ["null", null],
  ["true", true],
  ["more names than a call can make requests", many(10_001)],
])("a plugin that names %s has said nothing", async ([, shows]) => {
  expect(labels(await play(alice, { read, answer: { data: {}, shows } }))).toEqual(everythingRead);
});

test("ten thousand names are looked at", async () => {
  expect(labels(await play(alice, { read, answer: { data: {}, shows: many(10_000) } }))).toEqual([]);
});

test("names have room of their own beside the largest answer, and give an answer none", async () => {
  const dataChars = callLimits.outputBytesMax - JSON.stringify({ ok: true, message: "Played", data: "" }).length;
  const shows = ["shown:page.md"];
  expect(labels(await play(alice, { read, dataChars, answer: { shows } }))).toEqual(["page.md"]);
  const largeNames = Array.from({ length: 9_000 }, (_, at) => `shown:${at}.md`);
  const larger = { dataChars: dataChars + 1 };
  for (const steps of [
    { ...larger, answer: {} },
    { ...larger, answer: { shows } },
    { dataChars, answer: { shows: largeNames } },
  ]) {
    expect(await play(alice, { read, ...steps })).toMatchObject({ error: { code: "OUTPUT_TOO_LARGE" } });
  }
});

test("names count for the depth of an answer, and no other field stands beside it", async () => {
  const deep = JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) as unknown;
  expect(await play(alice, { answer: { data: 0, shows: deep } })).toMatchObject({
    ok: false,
    error: { code: "OUTPUT_INVALID" },
  });
  expect(await play(alice, { answer: { data: 0, showed: [] } })).toMatchObject({
    ok: false,
    error: { code: "OUTPUT_INVALID" },
  });
});

test("a derived file repeats any entry: without a word of the plugin all have labels, and it can name each", async () => {
  const derived = ["index.json"];
  const all = ["letter.md", "page.md", "guess.md"];
  expect(await shown({}, derived)).toEqual(all);
  expect(await shown({}, [...derived, "own.md"])).toEqual(all);
  expect(await shown({ shows: ["shown:guess.md"] }, derived)).toEqual(["guess.md"]);
  expect(await shown({ shows: ["shown:guess.md", "shown:page.md"] }, [...derived, "page.md"])).toEqual([
    "page.md",
    "guess.md",
  ]);
  expect(await shown({ shows: ["shown:own.md"] }, derived)).toEqual([]);
  expect(await shown({ shows: [] }, derived)).toEqual([]);
  // It does not say which.
  expect(await shown({ shows: ["shown:index.json"] }, derived)).toEqual(all);
  expect(await shown({ shows: ["shown:trash/a.md"] }, derived)).toEqual(all);
  expect(await shown({ shows: ["elsewhere:guess.md"] }, derived)).toEqual(all);
});

test("what a plugin says changes nothing of how far its run is trusted", async () => {
  const userId = await userWith();
  const ctx = { origin: { class: "direct_user", run: "r" } } as const;
  expect(labels(await play(userId, { read: ["letter.md"], answer: { data: {}, shows: [] } }, ctx))).toEqual([]);
  await play(userId, { write: { "copy.md": "x" } }, ctx);
  await play(userId, { read: ["page.md"], write: { "other.md": "x" }, answer: { data: {}, shows: [] } });
  expect(labels(await play(userId, { read: ["copy.md", "other.md"] }))).toEqual(["copy.md", "other.md"]);
  const trusts = (await runtime.upkeep.history({ userId })).map(({ path, trust }) => `${path} ${trust}`);
  expect(trusts).toEqual(expect.arrayContaining(["copy.md untrusted_document", "other.md tool_external"]));
});

test("a failure lowers its run's trust like a success", async () => {
  const userId = await userWith();
  const ctx = { origin: { class: "direct_user", run: "r" } } as const;
  const failed = await play(userId, { read: ["letter.md"], fails: true }, ctx);
  expect(failed).toEqual({
    ok: false,
    error: { code: "ENTRY_NOT_FOUND", message: "Played", blame: "caller", retryable: false },
  });
  await play(userId, { write: { "copy.md": "x" } }, ctx);
  expect(labels(await play(userId, { read: ["copy.md"] }))).toEqual(["copy.md"]);
});

const marker = "shown:named-by-a-plugin.md";

test("no caller, client, log or record gets what a plugin says", async () => {
  const userId = await userWith();
  const steps = { read: ["page.md"], answer: { data: { a: 1 }, shows: [marker] } };
  const result = await play(userId, steps);
  expect(Object.keys(result)).toEqual(["ok", "message", "data", "origins"]);
  expect(await play(userId, { ...steps, read: [] })).toEqual({ ok: true, message: "Played", data: { a: 1 } });
  const server = mcpServer(runtime, { userId });
  const client = new Client({ name: "test", version: "1" });
  const [own, others] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(others), client.connect(own)]);
  const answer = await client.callTool({ name: "Show", arguments: steps });
  await client.close();
  expect(answer).toMatchObject({
    structuredContent: { result: { a: 1 } },
    _meta: { "memcell/origins": [{ path: "page.md" }] },
  });
  for (const text of [JSON.stringify([result, answer, stage.log]), readFileSync(stage.logFile, "utf8")]) {
    expect(text).not.toMatch(/named-by-a-plugin|"shows"/);
  }
});

const index = (shows?: unknown): object => ({
  answer: { data: { text: "an index\n", entriesShown: 1, entriesHidden: 0 }, ...(shows !== undefined && { shows }) },
});

test.for<readonly [what: string, derived: object, isShown: boolean]>([
  ["says nothing", index(), false],
  ["says it in a wrong form", index("shown:own.md"), false],
  ["names its derived file", index(["shown:index.json"]), false],
  ["names a hidden entry", index(["shown:own.md", "shown:letter.md"]), false],
  ["names another", index(["shown:own.md", "shown:guess.md"]), true],
  ["names none", index([]), true],
])("entries are hidden: an index of a plugin that cannot mend, and %s", async ([, derived, isShown]) => {
  const userId = await userWith(derived);
  const text = await runtime.memoryIndex({ userId });
  expect(text).toMatch(isShown ? /^an index\n/ : /^\(showing-puppet is not shown: .*\)\n$/);
  expect(text).not.toMatch(/letter|page/);
});

test("a list of a plugin that says nothing of it has all labels, and is in no prompt", async () => {
  const list = {
    answer: {
      data: {
        entries: [
          { name: "own", description: "x" },
          { name: "page", description: "x" },
        ],
      },
    },
  };
  const userId = await userWith(list);
  const told = (await runtime.memoryEntries({ userId })).map(({ name, origins = [] }) => [
    name,
    origins.map((origin) => origin.name),
  ]);
  expect(told).toEqual([
    ["own", ["letter", "guess"]],
    ["page", ["page", "letter", "guess"]],
  ]);
  expect(await runtime.memoryEntries({ userId }, { forPrompt: true })).toEqual([]);
});
