/** A runtime that is read-only, and the read-only view of another: nobody changes anything, in any way. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore, storeIdOf } from "memcell";
import type { LogEntry, Runtime, ToolResult } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ManifestTool } from "../../shared/manifest.ts";
import { lastSegment } from "../stage/journal.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const alice = { userId: "alice" };
const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
const plugins = shippedNames();
afterAll(() => folder[Symbol.dispose]());

const fact = (name: string): object => ({
  action: "upsert",
  name,
  type: "user",
  description: `d of ${name}`,
  body: "b",
});
const noteEvent = { type: "planner_note", data: '{"note":"n"}' };

/** Memory of every family, and something in the trash. */
beforeAll(async () => {
  await using runtime = await createRuntime({ dataDir, plugins, threadsMax: 1 });
  const made = [
    await runtime.call("UpdateUserMemory", fact("a"), alice),
    await runtime.call("UpdateUserMemory", fact("gone"), alice),
    await runtime.call("UpdateUserMemory", { action: "delete", name: "gone" }, alice),
    await runtime.call("memory_write", { key: "k", content: "c" }, alice),
    await runtime.callAsHost("AppendRunEvents", { agentId: "p", runId: "r", events: [noteEvent] }, alice),
    await runtime.call("memory", { command: "create", path: "/memories/e.md", content: "v" }, alice),
  ];
  expect(made.map(({ ok }) => ok)).toEqual(made.map(() => true));
  await runtime.stores(alice).setInternal(null, "k", "v");
  await runtime.stores({ userId: "bob" }).grant("alice", { level: "readwrite" });
});

const changing = new Set(["write", "trash", "grant_set"]);
const isReading = ({ rights }: { readonly rights: readonly string[] }): boolean =>
  !rights.some((right) => changing.has(right));

/** Every tool of the shipped plugins, as their manifests have them. */
const declared = shippedNames().flatMap((name) =>
  manifestOf(readFileSync(shippedPlugin(name))).tools.map((tool) => ({ family: name, tool })),
);
const isLeft = ({ tool }: { readonly tool: ManifestTool }): boolean =>
  isReading(tool) || (tool.commands?.some(isReading) ?? false);

/** The two ways to a runtime that changes nothing. */
const ways: Readonly<Record<string, () => Promise<Runtime>>> = {
  "the option readOnly": () => createRuntime({ dataDir, plugins, threadsMax: 1, readOnly: true }),
  asReadOnly: async () => (await createRuntime({ dataDir, plugins, threadsMax: 1 })).asReadOnly(),
};

describe.for(Object.entries(ways))("with %s", ([, open]) => {
  let runtime: Runtime;
  let before: ReturnType<typeof treeFingerprint>;
  beforeAll(async () => {
    before = treeFingerprint(dataDir);
    runtime = await open();
  });
  afterAll(async () => {
    await runtime.close();
    expect(treeFingerprint(dataDir)).toEqual(before);
  });

  test("models are offered exactly the tools and commands without a right to change anything", () => {
    const models = declared.filter(({ tool }) => tool.audience === "model");
    expect(runtime.tools().map(({ name }) => name)).toEqual(models.filter(isLeft).map(({ tool }) => tool.name));
    expect(runtime.tools().every(isReading)).toBe(true);
    const memory = runtime.tools().find(({ name }) => name === "memory");
    const properties = memory?.inputSchema["properties"] as Record<string, { enum?: unknown }>;
    expect(properties["command"]?.enum).toEqual(["view", "search", "stores"]);
  });

  test.for(declared.filter((each) => !isLeft(each)))("$family/$tool.name is unknown to everybody", async (each) => {
    const { family, tool } = each;
    const unknown = { ok: false, error: { code: "TOOL_UNKNOWN" } };
    for (const name of [tool.name, `${family}/${tool.name}`]) {
      for (const call of ["call", "callAsHost"] as const) {
        expect(await runtime[call](name, {}, alice)).toMatchObject(unknown);
      }
    }
    const message = `Cannot call "${tool.name}": it can change something, and the runtime is read-only`;
    expect(await runtime.callAsHost(tool.name, {}, alice)).toMatchObject({ error: { message } });
    expect(() => runtime.documentation(tool.name)).toThrow("no such tool");
  });

  const commanded = declared.filter(({ tool }) => tool.commands !== undefined && isLeft({ tool }));
  test.for(commanded)("commands of $family/$tool.name that change something are unknown", async ({ family, tool }) => {
    const lost = tool.commands?.filter((each) => !isReading(each)) ?? [];
    expect(lost.length).toBeGreaterThan(1);
    const forModels = tool.audience === "host" ? "TOOL_UNKNOWN" : "INPUT_INVALID";
    for (const { name: command } of lost) {
      const called = await runtime.call(tool.name, { command }, alice);
      expect(called).toMatchObject({ ok: false, error: { code: forModels } });
      const byProgram = await runtime.callAsHost(`${family}/${tool.name}`, { command }, alice);
      expect(byProgram).toMatchObject({ ok: false, error: { code: "INPUT_INVALID" } });
    }
  });

  test("everything is read as before", async () => {
    expect(await runtime.memoryIndex(alice)).toContain("d of a");
    expect((await runtime.memoryEntries(alice)).map(({ family, name }) => `${family} ${name}`)).toEqual([
      "journal k",
      "run-history p/r",
      "stores e.md",
      "user-memory a",
    ]);
    expect(await runtime.readEntry({ family: "user-memory", name: "a" }, alice)).toMatchObject({ body: "b" });
    const view = { command: "view", path: "/memories/e.md" };
    expect(await runtime.call("memory", view, alice)).toMatchObject({ ok: true });
    expect(await runtime.call("memory", { command: "search", query: "v" }, alice)).toMatchObject({ ok: true });
    expect(await runtime.callAsHost("LoadRun", { agentId: "p", runId: "r" }, alice)).toMatchObject({ ok: true });
    const stores = runtime.stores(alice);
    expect(await stores.getInternal(null, "k")).toBe("v");
    expect((await stores.list()).map(({ source }) => source)).toEqual(["self", "grant"]);
    expect(await runtime.stores({ userId: "bob" }).grants()).toHaveLength(1);
    expect(await runtime.upkeep.listTrash(alice)).toMatchObject([{ path: "gone.md" }]);
    expect((await runtime.upkeep.export(alice)).files.length).toBeGreaterThan(5);
    expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  });

  const files = [{ scope: "memory", path: "new.md", content: Buffer.from("x") }];
  const changes: Readonly<Record<string, (on: Runtime) => Promise<unknown>>> = {
    "mend a user's files": ({ upkeep }) => upkeep.mend(alice),
    "restore an entry": ({ upkeep }) => upkeep.restore(alice, "gone"),
    "erase the user": ({ upkeep }) => upkeep.erase(alice),
    "mend what is no user's": ({ upkeep }) => upkeep.mendStrays(),
    "purge the trash": ({ upkeep }) => upkeep.purge(alice, { beforeEpochMs: Date.now() }),
    "plan an import": ({ upkeep }) => upkeep.planImport(alice, files),
    "import a user's memory": ({ upkeep }) => upkeep.import(alice, files),
    "grant access": (on) => on.stores(alice).grant("bob"),
    "revoke access": (on) => on.stores({ userId: "bob" }).revoke("alice"),
    "leave a store": (on) => on.stores(alice).leave(storeIdOf("bob")),
    "rejoin a store": (on) => on.stores(alice).rejoin(storeIdOf("bob")),
  };
  test.for(Object.entries(changes))("cannot %s", async ([action, change]) => {
    await expect(change(runtime)).rejects.toMatchObject({
      code: "READ_ONLY",
      blame: "caller",
      retryable: false,
      message: `Cannot ${action}: the runtime is read-only`,
    });
  });

  test("has no role that changes something, and is its own read-only view", async () => {
    await expect(runtime.stores(alice).setInternal(null, "k", "w")).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
    await expect(runtime.stores(alice).clear("bob")).rejects.toMatchObject({ code: "READ_ONLY" });
    expect(runtime.asReadOnly()).toBe(runtime);
  });
});

test("a guest that is left cannot write, whatever its code tries", async () => {
  const puppet = [testPlugin("puppet")];
  const options = { dataDir, plugins: puppet, policy: policyFor(puppet), threadsMax: 1, readOnly: true };
  await using runtime = await createRuntime(options);
  const before = treeFingerprint(dataDir);
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadingPuppet", "ListingPuppet"]);
  for (const of of ["store_write", "store_trash"]) {
    const steps = [{ of, request: JSON.stringify({ scope: "memory", path: "a.md", content: "x" }) }];
    const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };
    expect(await runtime.call("ReadingPuppet", steps, alice)).toMatchObject(denied);
    expect(await runtime.call("Puppet", steps, alice)).toMatchObject({ error: { code: "TOOL_UNKNOWN" } });
  }
  expect(treeFingerprint(dataDir)).toEqual(before);
});

test("the view of a runtime takes nothing from the runtime, and closing one closes both", async () => {
  const runtime = await createRuntime({ store: memoryStore(), threadsMax: 1 });
  const view = runtime.asReadOnly();
  expect(runtime.asReadOnly()).toBe(view);
  const seen: string[] = [];
  view.onChange(({ userId }) => seen.push(userId));
  expect(await view.call("UpdateUserMemory", fact("a"), alice)).toMatchObject({ error: { code: "TOOL_UNKNOWN" } });
  expect(await runtime.call("UpdateUserMemory", fact("a"), alice)).toMatchObject({ ok: true });
  expect(await view.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject({ ok: true });
  expect(seen).toEqual(["alice"]);
  await view.close();
  expect(await runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject({ error: { code: "CLOSED" } });
  await runtime.close();
});

test("the option counts for every kind of store, makes no folder, and says once what is not available", async () => {
  const lines: LogEntry[] = [];
  const options = { plugins, threadsMax: 1, readOnly: true, onLog: (entry: LogEntry) => void lines.push(entry) };
  await using inMemory = await createRuntime({ store: memoryStore(), ...options });
  await expect(inMemory.upkeep.purge(alice, { beforeEpochMs: 1 })).rejects.toMatchObject({ code: "READ_ONLY" });
  const empty = join(folder.path, "none");
  await using onDisk = await createRuntime({ dataDir: empty, ...options });
  expect(await onDisk.memoryIndex(alice)).toBe("");
  expect(await onDisk.call("memory", { command: "stores" }, alice)).toMatchObject({ ok: true });
  expect(() => treeFingerprint(empty)).toThrow("ENOENT");
  const [line, ...others] = lines.map(({ level, tool, text }) => `${level} ${tool}: ${text}`);
  expect(others).toEqual([line]);
  expect(line).toMatch(/^info read-only: nothing is changed, so these are not available: journal\/memory_write; /);
  expect(line).toContain("; create, edit, delete, rename, share, unshare of stores/memory; ");
});

test("readOnly is true or false", async () => {
  const readOnly = "yes" as unknown as boolean;
  await expect(createRuntime({ dataDir, readOnly })).rejects.toThrow("readOnly is neither true nor false");
});

test("a mounted folder is written to as little, and its unfinished change is not read", async () => {
  const dir = join(folder.path, "workspace");
  mkdirSync(dir);
  const mounts = [{ ...alice, scope: "journal", dir }];
  const options = { dataDir: join(folder.path, "own"), plugins: ["journal"], threadsMax: 1, mounts };
  {
    await using runtime = await createRuntime(options);
    expect(await runtime.call("memory_write", { key: "k", content: "c" }, alice)).toMatchObject({ ok: true });
  }
  const readKey = async (): Promise<ToolResult> => {
    await using runtime = await createRuntime({ ...options, readOnly: true });
    return await runtime.call("memory_read", { key: "k" }, alice);
  };
  const whole = treeFingerprint(dir);
  expect(await readKey()).toMatchObject({ ok: true });
  expect(treeFingerprint(dir)).toEqual(whole);
  writeFileSync(lastSegment(join(dir, ".memcell")), "no journal".repeat(2_000));
  const damaged = treeFingerprint(dir);
  expect(await readKey()).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED" } });
  expect(treeFingerprint(dir)).toEqual(damaged);
});
