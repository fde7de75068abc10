/**
 * A program asks all plugins at once: one budget with fair shares, and one that cannot be called leaves it the others' memory.
 * Each request is one operation for closing and for the log, whatever its arguments.
 */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { userFolder, writeUserFiles } from "../support/user-files.ts";

const stage = await openStage({ threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;
const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix it is." };

/** A user with an entry, for whom the folder of one scope is a link. */
async function userWithLink(scope: "journal" | "memory"): Promise<CallContext> {
  const ctx = { userId: stage.user(), callId: "one" };
  if (scope === "journal") await runtime.call("UpdateUserMemory", entry, ctx);
  else await runtime.call("memory_write", { key: "editor", content: "Helix" }, ctx);
  mkdirSync(join(stage.folder, "elsewhere"), { recursive: true });
  symlinkSync(join(stage.folder, "elsewhere"), join(userFolder(stage.dataDir, ctx.userId), scope));
  return ctx;
}

test("a folder that is a link leaves its family out of index and entries, and is reported", async () => {
  const ctx = await userWithLink("journal");
  const own = await runtime.memoryIndex(ctx, { family: "user-memory" });
  expect(await runtime.memoryIndex(ctx)).toBe(`(journal could not be read: STORAGE_UNSAFE)\n${own}`);
  const entries = await runtime.memoryEntries(ctx);
  expect(entries).toEqual([{ family: "user-memory", name: "editor", description: "Uses Helix" }]);
  // What is listed can be read as it is.
  for (const each of entries) expect(await runtime.readEntry(each, ctx)).toMatchObject({ body: "Helix it is." });
  const text = expect.stringMatching(/^journal is left out: STORAGE_UNSAFE: Cannot /) as string;
  const told = stage.log.filter((line) => line.userId === ctx.userId && line.text.includes("left out"));
  expect(told).toEqual(
    ["JournalIndex", "JournalEntries"].map((tool) => Object.assign({ level: "error", tool, text }, ctx)),
  );
});

test("a request for that family alone fails, and no other does", async () => {
  const ctx = await userWithLink("journal");
  const unsafe = { name: "ToolError", code: "STORAGE_UNSAFE" };
  await expect(runtime.memoryIndex(ctx, { family: "journal" })).rejects.toMatchObject(unsafe);
  await expect(runtime.memoryEntries(ctx, { family: "journal" })).rejects.toMatchObject(unsafe);
  const other = await runtime.memoryIndex(await userWithLink("memory"));
  expect(other).toMatch(/\(user-memory could not be read: STORAGE_UNSAFE\)\n$/);
});

const throwing: CallContext = {
  get userId(): string {
    throw new Error("/secret/path");
  },
};

/** For callers without types. */
const wrong = (value: unknown): never => value as never;
const cancelled = (ctx: CallContext): CallContext => ({ ...ctx, signal: AbortSignal.abort() });
const familyAllowed = '"journal" or "stores" or "user-memory"';

test.for<readonly [name: string, ask: (ctx: CallContext) => Promise<unknown>, code: string]>([
  ["a cancelled request", (ctx) => runtime.memoryIndex(cancelled(ctx)), "CANCELLED"],
  ["no user", () => runtime.memoryIndex(wrong(null)), "USER_REQUIRED"],
  ["a wrong user", () => runtime.memoryEntries({ userId: ".." }), "USER_INVALID"],
  ["a family that is no text", (ctx) => runtime.memoryIndex(ctx, wrong({ family: {} })), "INPUT_INVALID"],
  ["an unknown family", (ctx) => runtime.memoryIndex(ctx, { family: "none" }), "TOOL_UNKNOWN"],
  ["no entry", (ctx) => runtime.readEntry(wrong(null), ctx), "INPUT_INVALID"],
  ["a context that throws, for an index", () => runtime.memoryIndex(throwing), "INTERNAL"],
  ["for an entry", () => runtime.readEntry({ family: "user-memory", name: "editor" }, throwing), "INTERNAL"],
  ["an entry without family", (ctx) => runtime.readEntry({ name: "editor" }, ctx), "INPUT_INVALID"],
])("%s fails as such, reports no family, and repeats nothing of it", async ([, ask, code]) => {
  const ctx = await userWithLink("journal");
  const failure: unknown = await ask(ctx).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "ToolError", code });
  expect(String(failure)).not.toContain("secret");
  expect(stage.log.filter(({ userId }) => userId === ctx.userId)).toEqual([]);
  const calls = stage.records(ctx.userId).flatMap((record) => (record.kind === "call" ? [record] : []));
  const [last] = calls.slice(1);
  if (["TOOL_UNKNOWN", "INPUT_INVALID"].includes(code)) expect(last).toMatchObject({ tool: null, code });
});

test("readEntry() says which families can read, and needs none if there is one", async () => {
  const ctx = { userId: stage.user() };
  await expect(runtime.readEntry({ name: "editor" }, ctx)).rejects.toMatchObject({
    message: `Cannot read the entry: family is missing, allowed: ${familyAllowed}`,
    issues: [{ field: "family", value: "missing", allowed: familyAllowed }],
  });
  await using alone = await openStage({ plugins: ["user-memory"], threadsMax: 1 });
  await alone.runtime.call("UpdateUserMemory", entry, ctx);
  expect(await alone.runtime.readEntry({ name: "editor" }, ctx)).toMatchObject({ body: "Helix it is." });
});

test("all calls of a request are for the same user, even if the context changes meanwhile", async () => {
  const { userId } = await userWithLink("memory");
  let reads = 0;
  const ctx: CallContext = {
    get userId(): string {
      return reads++ === 0 ? "nobody" : userId;
    },
  };
  expect(await runtime.memoryIndex(ctx)).toBe("");
  expect(reads).toBe(1);
});

test("families() is a frozen list, which says what each family can do", () => {
  const families = runtime.families();
  const [first] = families;
  expect([families, first, first?.indexScopes, first?.entryScopes].every(Object.isFrozen)).toBe(true);
  const ofMemory = { name: "user-memory", hasIndex: true, canRead: true, readTool: "ReadUserMemory" };
  expect(families.at(-1)).toMatchObject({ ...ofMemory, entryFile: "{name}.md", entryScopes: ["memory"] });
});

test("what is requested before close() is answered, and refused afterwards", async () => {
  using folder = temporaryFolder();
  const closing = await createRuntime({ dataDir: folder.path, plugins: shippedNames(), threadsMax: 1 });
  const ask = () => [closing.memoryIndex({ userId: "alice" }), closing.memoryEntries({ userId: "alice" })];
  const answers = ask();
  const closed = closing.close();
  expect(await Promise.all(answers)).toEqual(["", []]);
  await closed;
  for (const each of ask()) await expect(each).rejects.toMatchObject({ name: "ToolError", code: "CLOSED" });
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Entries, and their lines in the index. */
function indexedEntries(count: number, words: string): Record<string, string> {
  const files = Object.fromEntries(numbers(count).map((at) => [`memory/e${at}.md`, `${words}\n`]));
  const lines = numbers(count).map((at) => `- [e${at}](e${at}.md) \u2014 ${words}\n`);
  return { ...files, "memory/MEMORY.md": lines.join("") };
}

const meta = "<!-- agentool-memory: at=2026-01-01T00:00:00+00:00 tags= -->";
const blocks = (count: number, text: string): Record<string, string> => ({
  "journal/MEMORY.md": numbers(count)
    .map((at) => `### k${at}\n\n${text}\n\n${meta}\n\n`)
    .join(""),
});

async function indexOf(files: Record<string, string>) {
  const userId = stage.user();
  writeUserFiles(stage.dataDir, { [userId]: files });
  const text = await runtime.memoryIndex({ userId });
  const familyIndex = (family: string): Promise<string> => runtime.memoryIndex({ userId }, { family });
  return { text, entries: text.match(/^- \[e/gm)?.length ?? 0, familyIndex };
}

test("what fits is shown whole, each plugin in its own frame, in their order", async () => {
  const { text, familyIndex } = await indexOf({ ...indexedEntries(3, "x"), ...blocks(3, "y") });
  const names = runtime.families().filter(({ hasIndex }) => hasIndex);
  const parts: string[] = [];
  for (const { name } of names) parts.push(await familyIndex(name));
  expect(parts.filter((part) => part !== "")).toHaveLength(2);
  expect(text).toBe(parts.join(""));
});

test("what does not fit is cut, a small index stays whole, and two large ones have equal shares", async () => {
  const small = await indexOf({ ...blocks(2, "y"), ...indexedEntries(1_000, "x") });
  expect(small.text).toContain(await small.familyIndex("journal"));
  expect(small.entries).toBeGreaterThan(150);
  const large = await indexOf({ ...blocks(900, "y".repeat(300)), ...indexedEntries(1_000, "x".repeat(290)) });
  for (const { text } of [small, large]) {
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(25_000);
  }
  const [journal = "", memory = ""] = large.text.split(/^<\/journal_summary>$/m);
  for (const share of [journal, memory]) {
    expect(Buffer.byteLength(share)).toBeGreaterThan(10_000);
    expect(Buffer.byteLength(share)).toBeLessThan(13_500);
  }
});

test("a full plugin next to an empty one has all the room that it has alone", async () => {
  const { text, entries, familyIndex } = await indexOf(indexedEntries(1_000, "x"));
  expect(text).toBe(await familyIndex("user-memory"));
  expect(entries).toBe(200);
});
