/** Listeners are notified of each committed change set when it is durable, and of nothing else. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore, storeIdOf } from "memcell";
import type { MemoryChange, Runtime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { userFolder } from "../support/user-files.ts";

const plugins = [shippedPlugin("user-memory"), testPlugin("puppet")];
const clock = (): number => Date.UTC(2026, 0, 2, 3, 4, 5);
const stage = await openStage({ plugins, policy: policyFor(plugins), clock });
afterAll(() => stage[Symbol.asyncDispose]());
const { runtime } = stage;

const upsert = (name: string) => ({ action: "upsert", name, type: "user", description: "d", body: "b" });
const ask = (of: string, request: object) => ({ of, ask: JSON.stringify(request) });
const write = (path: string, content: string) => ask("store_write", { scope: "memory", path, content });
const memory = (...paths: string[]) => paths.map((path) => ({ scope: "memory", path }));

/** A user of one test, and what a listener was told of this user. */
function listenedUser(): { userId: string; changes: MemoryChange[] } {
  const [userId, changes] = [stage.user(), [] as MemoryChange[]];
  runtime.onChange((change) => void (change.userId === userId && changes.push(change)));
  return { userId, changes };
}

test("reports a committed call with each file, also without an audit log", async () => {
  const { userId, changes } = listenedUser();
  await using unlogged = await createRuntime({ store: memoryStore(), plugins: ["user-memory"], clock });
  unlogged.onChange((change) => changes.push(change));
  for (const each of [runtime, unlogged]) {
    const origin = { class: "direct_user", run: "chat-7" } as const;
    await each.call("UpdateUserMemory", upsert("a"), { userId, origin, callId: "1" });
    await each.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId, origin, callId: "2" });
    const by = { userId, tool: "UpdateUserMemory", run: "chat-7" };
    expect(changes.splice(0)).toEqual([
      { ...by, callId: "1", files: memory("a.md", "MEMORY.md") },
      { ...by, callId: "2", files: memory("a.md", "trash/a.20260102T030405000Z.md", "MEMORY.md") },
    ]);
  }
});

test.for([
  { name: "reads", tool: "ReadUserMemory", input: { name: "a" } },
  { name: "fails", tool: "UpdateUserMemory", input: { action: "delete", name: "a" } },
  { name: "writes and fails", tool: "Puppet", input: [write("a.md", "x"), { output: "{}" }] },
  { name: "is denied", tool: "Puppet", input: [write("a.md", "x"), ask("store_read", { scope: "x", path: "a" })] },
  { name: "is cancelled", tool: "Puppet", input: [write("a.md", "x")], signal: AbortSignal.abort() },
])("does not report a call that $name", async ({ tool, input, signal }) => {
  const { userId, changes } = listenedUser();
  await runtime.call(tool, input, { userId, signal });
  expect(stage.files(userId)).toEqual({});
  expect(changes).toEqual([]);
});

/** A runtime in memory with a log of its own. */
const ownRuntime = (onLog: (text: string) => unknown): Promise<Runtime> =>
  createRuntime({
    store: memoryStore(),
    plugins,
    policy: policyFor(plugins),
    onLog: ({ text }) => onLog(text) as undefined,
  });

test("at the notification the file exists and is recorded, and the result is not out yet", async () => {
  const user = stage.user();
  const seen: unknown[] = [];
  let isResolved = false;
  const stop = runtime.onChange(({ userId, files }) => {
    const there = files.map(({ scope, path }) => existsSync(join(userFolder(stage.dataDir, userId), scope, path)));
    seen.push({ there, isResolved, kinds: stage.records(user).map(({ kind }) => kind) });
  });
  await runtime.call("UpdateUserMemory", upsert("a"), { userId: user });
  isResolved = true;
  stop();
  expect(seen).toEqual([{ there: [true, true], isResolved: false, kinds: ["staged"] }]);
});

test("reports one user's changes in order, and several users' to each listener once", async () => {
  const users = [listenedUser(), listenedUser(), listenedUser()];
  const names = ["1.md", "2.md", "3.md", "4.md"];
  await Promise.all(
    users.flatMap(({ userId }) => names.map((name) => runtime.call("Puppet", [write(name, "x")], { userId }))),
  );
  for (const { userId, changes } of users)
    expect(changes).toMatchObject(names.map((name) => ({ userId, files: memory(name) })));
});

test("reports repairs, restores, purges and imports, but no inspection, plan or export", async () => {
  const [alice, bob] = [listenedUser(), listenedUser()];
  const { upkeep } = runtime;
  await runtime.call("UpdateUserMemory", upsert("a"), { userId: alice.userId });
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: alice.userId });
  const [file] = await upkeep.listTrash({ userId: alice.userId });
  const told = (): unknown => alice.changes.splice(0).map(({ files }) => files);
  told();
  await upkeep.inspect({ userId: alice.userId });
  await upkeep.mend({ userId: alice.userId });
  expect(told()).toEqual([]);
  await upkeep.restore({ userId: alice.userId }, "a");
  expect(told()).toEqual([memory(`trash/${file?.name}`, "a.md", "MEMORY.md")]);
  await runtime.call("Puppet", [ask("store_trash", { scope: "memory", path: "MEMORY.md" })], { userId: alice.userId });
  told();
  expect(await upkeep.mend({ userId: alice.userId })).not.toEqual([]);
  expect(told()).toEqual([memory("MEMORY.md")]);
  const purged = await upkeep.purge({ userId: alice.userId }, { beforeEpochMs: 9e15 });
  expect(alice.changes[0]).toMatchObject({ tool: "purge" });
  expect(told()).toEqual([memory(...purged.map(({ name }) => `trash/${name}`))]);
  const { files } = await upkeep.export({ userId: alice.userId });
  await upkeep.planImport({ userId: bob.userId }, files);
  expect([told(), bob.changes]).toEqual([[], []]);
  await upkeep.import({ userId: bob.userId, labels: { movement: "3" } }, files);
  expect(bob.changes).toMatchObject([
    { userId: bob.userId, tool: "import", run: null, files: memory("MEMORY.md", "a.md") },
  ]);
  expect(stage.records(bob.userId).filter(({ kind }) => kind === "staged")).toMatchObject([
    { labels: { movement: "3" } },
  ]);
});

// Asynchronous listeners, which the types accept.
const rejecting = (): Promise<void> => Promise.reject(new Error("later"));
const never = (): Promise<void> => new Promise(() => {});
const withoutType = (listener: () => unknown): (() => void) => listener;
const throwing = (): never => {
  throw new Error("at once");
};

test("a listener that throws, rejects or never ends disturbs nobody, and is reported to the operator", async () => {
  const log: string[] = [];
  await using own = await ownRuntime((text) => log.push(text));
  own.onChange(throwing);
  own.onChange(withoutType(rejecting));
  own.onChange(withoutType(never));
  own.onChange(() => {
    // oxlint-disable-next-line no-throw-literal -- programs do
    throw undefined;
  });
  let isTold = false;
  own.onChange(() => (isTold = true));
  expect(await own.call("UpdateUserMemory", upsert("a"), { userId: "alice" })).toMatchObject({ ok: true });
  expect(isTold).toBe(true);
  const reasons = log.map((text) => /at once|later|undefined/.exec(text)?.[0]);
  expect(new Set(reasons)).toEqual(new Set(["at once", "later", "undefined"]));
  expect(reasons).toHaveLength(3);
});

test.for([throwing, rejecting])("an operator's log that fails as well disturbs nobody: %s", async (onLog) => {
  await using own = await ownRuntime(withoutType(onLog));
  own.onChange(throwing);
  expect(await own.call("UpdateUserMemory", upsert("a"), { userId: "alice" })).toMatchObject({ ok: true });
});

test("a listener cannot alter what the next one gets, or what is recorded", async () => {
  const attempts: boolean[] = [];
  const stop = runtime.onChange((change) => {
    const [file] = change.files;
    attempts.push(Reflect.set(change, "userId", "bob"), Reflect.set(change.files, "length", 0));
    attempts.push(Reflect.set(file ?? {}, "path", "other.md"), Reflect.set(change.files, 0, "other"));
  });
  const { userId, changes } = listenedUser();
  await runtime.call("UpdateUserMemory", upsert("a"), { userId });
  stop();
  expect(attempts).toEqual([false, false, false, false]);
  expect(changes).toMatchObject([{ userId, files: memory("a.md", "MEMORY.md") }]);
  expect(stage.records(userId).at(-1)).toMatchObject({ writes: [{ path: "a.md" }, { path: "MEMORY.md" }] });
});

test("a removed listener gets nothing more, even during a notification; a new one starts with the next", async () => {
  await using own = await ownRuntime(() => {});
  const told: string[] = [];
  const stopFirst = own.onChange(() => {
    told.push("first");
    stopFirst();
    stopThird();
    own.onChange(() => told.push("late"));
  });
  own.onChange(() => told.push("second"));
  const stopThird = own.onChange(() => told.push("third"));
  await own.call("Puppet", [write("a.md", "x")], { userId: "alice" });
  expect(told.splice(0)).toEqual(["first", "second"]);
  stopFirst();
  await own.call("Puppet", [write("a.md", "y")], { userId: "alice" });
  expect(told).toEqual(["second", "late"]);
});

test("a function registered twice is called twice, and each registration ends alone", async () => {
  await using own = await ownRuntime(() => {});
  let times = 0;
  const listener = (): void => void times++;
  const [stop] = [own.onChange(listener), own.onChange(listener)];
  stop();
  stop();
  await own.call("Puppet", [write("a.md", "x")], { userId: "alice" });
  expect(times).toBe(1);
  expect(() => own.onChange(7 as never)).toThrow(TypeError);
});

test("a listener can call the runtime", async () => {
  await using own = await ownRuntime(() => {});
  const found = new Promise((resolve) => {
    own.onChange(({ userId }) => void own.memoryIndex({ userId }).then(resolve));
  });
  await own.call("UpdateUserMemory", upsert("a"), { userId: "alice" });
  expect(await found).toContain("a");
});

test("a listener that blocks its process keeps a shared store from no other process", async () => {
  using folder = temporaryFolder();
  const script = `import { createRuntime, storeIdOf } from "memcell";
    const runtime = await createRuntime({ dataDir: ${JSON.stringify(folder.path)}, plugins: ["stores"], waitMs: 5_000 });
    const input = { command: "create", path: "/memories/b", content: "x" };
    const result = await runtime.callAsHost("memory", input, { userId: "owner" });
    await runtime.close();
    console.log(result.ok ? "written" : result.error.code);`;
  await using own = await createRuntime({ dataDir: folder.path, plugins: ["stores"] });
  await own.stores({ userId: "owner" }).grant("grantee", { level: "readwrite" });
  const told: string[] = [];
  own.onChange(({ userId }) => {
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    told.push(userId, run.stdout.trim());
  });
  const path = `/memories/shared/${storeIdOf("owner")}/a`;
  const input = { command: "create", path, content: "x" };
  expect(await own.callAsHost("memory", input, { userId: "grantee" })).toMatchObject({ ok: true });
  expect(told).toEqual(["grantee", "written"]);
});
