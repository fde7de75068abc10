/** Two shipped plugins, one of which cannot be called: a program still gets the other's memory. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, LogEntry, Runtime } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";

const alice = { userId: "alice", callId: "one" };
const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix it is." };

/** Opens both plugins, one with an entry. The folders of some scopes are links. */
async function withLinks(scopes: readonly string[], work: (runtime: Runtime, log: LogEntry[]) => Promise<void>) {
  using folder = temporaryFolder();
  const log: LogEntry[] = [];
  const onLog = (line: LogEntry): void => void log.push(line);
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: shippedNames(), threadsMax: 1, onLog });
  mkdirSync(join(folder.path, "elsewhere"));
  if (!scopes.includes("memory")) await runtime.call("UpdateUserMemory", entry, alice);
  else await runtime.call("memory_write", { key: "editor", content: "Helix" }, { userId: "alice" });
  for (const scope of scopes) {
    const place = join(userFolder(folder.path, "alice"), scope);
    symlinkSync(join(folder.path, "elsewhere"), place);
  }
  await work(runtime, log);
}

test("a folder that is a link leaves its family out of index and entries, and is reported", async () => {
  await withLinks(["journal"], async (runtime, log) => {
    const own = await runtime.memoryIndex(alice, { family: "user-memory" });
    expect(await runtime.memoryIndex(alice)).toBe(`(journal could not be read: STORAGE_UNSAFE)\n${own}`);
    expect(await runtime.memoryEntries(alice)).toEqual([
      { family: "user-memory", name: "editor", description: "Uses Helix" },
    ]);
    expect(log.filter(({ text }) => text.includes("left out"))).toMatchObject(
      ["JournalIndex", "JournalEntries"].map((tool) => ({
        level: "error",
        tool,
        userId: "alice",
        callId: "one",
        text: expect.stringMatching(/^journal is left out: STORAGE_UNSAFE: Cannot /) as string,
      })),
    );
  });
});

test("a request for that family alone, or only for failing families, fails", async () => {
  const unsafe = { name: "ToolError", code: "STORAGE_UNSAFE" };
  await withLinks(["journal"], async (runtime) => {
    await expect(runtime.memoryIndex(alice, { family: "journal" })).rejects.toMatchObject(unsafe);
    await expect(runtime.memoryEntries(alice, { family: "journal" })).rejects.toMatchObject(unsafe);
  });
  await withLinks(["memory"], async (runtime) => {
    expect(await runtime.memoryIndex(alice)).toMatch(/\(user-memory could not be read: STORAGE_UNSAFE\)\n$/);
  });
});

test("an invalid request fails as such, and no family is reported", async () => {
  await withLinks(["journal"], async (runtime) => {
    const cancelled = { ...alice, signal: AbortSignal.abort() };
    await expect(runtime.memoryIndex(cancelled)).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(runtime.memoryEntries({ userId: ".." })).rejects.toMatchObject({ code: "USER_INVALID" });
    await runtime.close();
    await expect(runtime.memoryIndex(alice)).rejects.toMatchObject({ code: "CLOSED" });
  });
});

const thrower = (): CallContext => ({
  get userId(): string {
    throw new Error("/a/host/path");
  },
});

test.for<readonly [name: string, ask: (runtime: Runtime) => Promise<unknown>]>([
  ["memoryIndex", (runtime) => runtime.memoryIndex(thrower())],
  ["memoryEntries", (runtime) => runtime.memoryEntries(thrower())],
  ["memoryIndex of one family", (runtime) => runtime.memoryIndex(thrower(), { family: "journal" })],
  ["readEntry", (runtime) => runtime.readEntry({ family: "user-memory", name: "editor" }, thrower())],
])("%s: a context that throws when it is read is INTERNAL", async ([, ask]) => {
  await withLinks([], async (runtime) => {
    const failure = { name: "ToolError", code: "INTERNAL", message: "Cannot call a tool: the runtime failed" };
    await expect(ask(runtime)).rejects.toMatchObject(failure);
  });
});

test("all calls of a request are for the same user, even if the context changes meanwhile", async () => {
  await withLinks([], async (runtime) => {
    let reads = 0;
    const ctx: CallContext = {
      get userId(): string {
        return reads++ === 0 ? "bob" : "alice";
      },
    };
    expect(await runtime.memoryIndex(ctx)).toBe("");
    expect(reads).toBe(1);
  });
});

test("readEntry() requires a family if several can read", async () => {
  await withLinks([], async (runtime) => {
    await expect(runtime.readEntry({ name: "editor" }, alice)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: 'Cannot read the entry: family is missing, allowed: "journal" or "stores" or "user-memory"',
      issues: [{ field: "family", value: "missing", allowed: '"journal" or "stores" or "user-memory"' }],
    });
  });
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path, plugins: ["user-memory"], threadsMax: 1 });
  await runtime.call("UpdateUserMemory", entry, alice);
  expect(await runtime.readEntry({ name: "editor" }, alice)).toMatchObject({ body: "Helix it is." });
});

test("families() always returns the same list", async () => {
  await withLinks([], async (runtime) => {
    expect(runtime.families()).toBe(runtime.families());
    expect(runtime.hasMemory).toBe(true);
    expect(runtime.families().map(({ name }) => name)).toEqual(["journal", "run-history", "stores", "user-memory"]);
  });
});
