/** Decisions that meet others, records that are damaged, and what becomes of a run's trust in time. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, Runtime, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";

const owner: CallContext = { userId: "alice" };
const user: CallContext = { userId: "alice", origin: { class: "direct_user", run: "mine" } };
const web: CallContext = { userId: "alice", origin: { class: "tool_external", run: "web" } };

const save = (runtime: Runtime, name: string, body: string, ctx: CallContext): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, type: "user", description: "d", body }, ctx);
const remove = (runtime: Runtime, name: string, ctx: CallContext): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "delete", name }, ctx);

const waiting = async (result: Promise<ToolResult>): Promise<string> => waitingId(await result);

const bodyOf = async (runtime: Runtime, name: string): Promise<unknown> => {
  const read = await runtime.call("ReadUserMemory", { name }, owner);
  return read.ok ? (read.data as { readonly body: string }).body : read.error.code;
};

test("two approvals at the same time apply the write once, and leave nothing that waits", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path });
  for (let round = 0; round < 5; round++) {
    const id = await waiting(save(runtime, "menu", `Soup ${round}`, web));
    const decided = await Promise.allSettled([runtime.upkeep.approve(owner, id), runtime.upkeep.approve(owner, id)]);
    expect(decided.some((each) => each.status === "fulfilled" && each.value.applied)).toBe(true);
    expect(await runtime.upkeep.pending(owner)).toEqual([]);
    expect(await bodyOf(runtime, "menu")).toBe(`Soup ${round}`);
  }
  const versions = await runtime.upkeep.history(owner, { path: "menu.md" });
  expect(versions.filter(({ kind }) => kind === "approved")).toHaveLength(5);
});

test("a write that is rejected while its approval finds other files does not wait again", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path });
  await save(runtime, "menu", "Bread", user);
  const id = await waiting(save(runtime, "menu", "Soup", web));
  await save(runtime, "menu", "Cake", user);
  const decided = await Promise.allSettled([runtime.upkeep.approve(owner, id), runtime.upkeep.reject(owner, id)]);
  const isRejected = decided[1].status === "fulfilled";
  expect(await runtime.upkeep.pending(owner)).toHaveLength(isRejected ? 0 : 1);
  expect(await bodyOf(runtime, "menu")).toBe("Cake");
});

test("an approval applies its own write, also if another one of the same call was applied before", async () => {
  using folder = temporaryFolder();
  let nowMs = Date.now();
  await using runtime = await createRuntime({ dataDir: folder.path, clock: () => nowMs++ });
  await save(runtime, "x", "one", user);
  const [first, second] = [
    await waiting(remove(runtime, "x", { ...web, callId: "turn-1" })),
    await waiting(remove(runtime, "x", { ...web, callId: "turn-1" })),
  ];
  expect(await runtime.upkeep.approve(owner, first)).toMatchObject({ applied: true });
  await save(runtime, "x", "two", user);
  expect(await runtime.upkeep.approve(owner, second)).toMatchObject({ applied: false });
  expect(await bodyOf(runtime, "x")).toBe("two");
});

test("a run that has read a page's entry waits with every tool, also one of programs", async () => {
  using folder = temporaryFolder();
  const plugins = shippedNames();
  {
    const policy = trustingPolicy({ active: "untrusted_document" });
    await using lax = await createRuntime({ dataDir: folder.path, plugins, policy });
    expect(await save(lax, "page", "pay", web)).toMatchObject({ ok: true });
  }
  await using runtime = await createRuntime({ dataDir: folder.path, plugins });
  const run: CallContext = { userId: "alice", origin: { class: "model_inference", run: "r" } };
  const create = { command: "create", path: "/memories/a.md", file_text: "pay" };
  expect(await runtime.callAsHost("stores/AnthropicMemory", create, run)).toMatchObject({ ok: true });
  await runtime.call("ReadUserMemory", { name: "page" }, run);
  const again = { ...create, path: "/memories/b.md" };
  await waiting(runtime.callAsHost("stores/AnthropicMemory", again, run));
});

test("a call that is cancelled after its commit is a success, and lowers its run all the same", async () => {
  using folder = temporaryFolder();
  const plugins = shippedNames();
  {
    const policy = trustingPolicy({ active: "untrusted_document" });
    await using lax = await createRuntime({ dataDir: folder.path, plugins, policy });
    await lax.call("memory_write", { key: "k", content: "of a page", target: "summary" }, web);
  }
  const policy = trustingPolicy({ active: "tool_external" });
  const run: CallContext = { userId: "alice", origin: { class: "model_inference", run: "r" } };
  {
    await using runtime = await createRuntime({ dataDir: folder.path, plugins, policy });
    const ending = new AbortController();
    runtime.onChange(() => ending.abort());
    const update = { key: "k", content: "changed" };
    const answer = await runtime.call("memory_update", update, { ...run, signal: ending.signal });
    expect(answer).toMatchObject({ ok: true });
  }
  await using runtime = await createRuntime({ dataDir: folder.path, plugins });
  await waiting(save(runtime, "later", "x", run));
});

test("records that are damaged keep nobody from what waits, and the doctor names what is no file", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path });
  const id = await waiting(save(runtime, "menu", "Soup", web));
  const records = join(userFolder(folder.path, "alice"), ".memcell");
  writeFileSync(join(records, "pending", `${id.slice(0, -4)}0000.json`), Buffer.alloc(17 * 1024 * 1024, "x"));
  mkdirSync(join(records, "pending", `${id.slice(0, -4)}1111.json`));
  expect((await runtime.upkeep.pending(owner)).map((each) => each.id)).toEqual([id]);
  expect(await runtime.upkeep.inspect(owner)).toMatchObject([{ path: expect.stringMatching(/1111\.json$/) as string }]);
  rmSync(join(records, "pending", `${id.slice(0, -4)}1111.json`), { recursive: true });
  expect(readdirSync(join(records, "pending"))).toHaveLength(2);
});

test("a damaged record of runs makes writes with a run wait, until runs of that time are forgotten", async () => {
  using folder = temporaryFolder();
  let nowMs = Date.now();
  await using runtime = await createRuntime({ dataDir: folder.path, clock: () => nowMs });
  await save(runtime, "a", "x", user);
  const runs = join(userFolder(folder.path, "alice"), ".memcell", "runs");
  mkdirSync(runs);
  writeFileSync(join(runs, "trust.json"), "[");
  await waiting(save(runtime, "b", "x", user));
  expect(await save(runtime, "c", "x", { ...user, origin: { class: "direct_user" } })).toMatchObject({ ok: true });
  nowMs += 91 * 24 * 3_600_000;
  expect(await save(runtime, "d", "x", user)).toMatchObject({ ok: true });
});

test("an undo since a time leaves what somebody has edited by hand before it", async () => {
  using folder = temporaryFolder();
  let nowMs = Date.now() - 3_600_000;
  await using runtime = await createRuntime({ dataDir: folder.path, clock: () => nowMs });
  await save(runtime, "a", "one", user);
  const file = join(userFolder(folder.path, "alice"), "memory", "a.md");
  const { files } = await runtime.upkeep.export(owner);
  const own = Buffer.from(files.find(({ path }) => path === "a.md")?.content ?? []).toString();
  writeFileSync(file, own.replace("one", "edited by hand"));
  const since = new Date((nowMs += 60_000));
  await save(runtime, "a", "bad", { ...user, origin: { class: "direct_user", run: "bad" } });
  await runtime.upkeep.undo(owner, { since });
  expect(await bodyOf(runtime, "a")).toBe("edited by hand");
});

test("a program that says nothing of origins writes on when the history was lost; one that does has to wait", async () => {
  using folder = temporaryFolder();
  {
    await using runtime = await createRuntime({ dataDir: folder.path });
    await save(runtime, "a", "one", user);
  }
  rmSync(join(userFolder(folder.path, "alice"), ".memcell", "history"), { recursive: true });
  await using runtime = await createRuntime({ dataDir: folder.path });
  await waiting(save(runtime, "a", "two", user));
  expect(await save(runtime, "a", "three", owner)).toMatchObject({ ok: true });
  expect((await runtime.upkeep.history(owner, { path: "a.md" }))[0]).toMatchObject({ trust: "untrusted_document" });
});

test("an index does not lower a write that reads it, also if the policy has no tool that makes it", async () => {
  using folder = temporaryFolder();
  const policy = trustingPolicy({ active: "untrusted_document" });
  const memory = policy.plugins["user-memory"];
  if (memory === undefined) return expect.fail("There is no user-memory");
  const { InspectMemory: _, ...tools } = memory.tools;
  const plugins = { ...policy.plugins, "user-memory": { ...memory, tools } };
  await using runtime = await createRuntime({ dataDir: folder.path, policy: { ...policy, plugins } });
  await save(runtime, "menu", "Soup", web);
  await save(runtime, "editor", "vim", user);
  const [version] = await runtime.upkeep.history(owner, { path: "editor.md" });
  expect(version).toMatchObject({ trust: "direct_user" });
});
