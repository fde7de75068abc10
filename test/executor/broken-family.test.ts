/**
 * A program asks all plugins at once, and one of them cannot be called: it still gets the others' memory. Each request is
 * one operation for closing and for the log, whatever its arguments.
 */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";

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
