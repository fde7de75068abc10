/** Listeners are notified of each committed change set when it is durable, and of nothing else. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { LogEntry, MemoryChange } from "memcell";
import { expect, test } from "vitest";

import { ask, openAuditedStage, upsert, write } from "../audit/audited-stage.ts";
import type { AuditedStage, StageOptions } from "../audit/audited-stage.ts";
import { userFolder } from "../support/user-files.ts";

interface ListeningStage extends AsyncDisposable {
  readonly stage: AuditedStage;
  readonly changes: MemoryChange[];
}

/** A stage and all notifications of one listener. */
async function openListeningStage(options: StageOptions = {}): Promise<ListeningStage> {
  const stage = await openAuditedStage(options);
  const changes: MemoryChange[] = [];
  stage.runtime.onChange((change) => changes.push(change));
  return { stage, changes, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

const memory = (...paths: string[]) => paths.map((path) => ({ scope: "memory", path }));
const alice = { userId: "alice" };

// Asynchronous listeners, which the types accept.
const rejecting = (): Promise<void> => Promise.reject(new Error("later"));
const never = (): Promise<void> => new Promise(() => {});
const withoutType = (listener: () => unknown): (() => void) => listener;

test.for([{ isUnlogged: false }, { isUnlogged: true }])(
  "reports a committed call with each file: %o",
  async (options) => {
    await using told = await openListeningStage(options);
    const { runtime } = told.stage;
    await runtime.call("UpdateUserMemory", upsert("a"), alice);
    await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, alice);
    expect(told.changes).toEqual([
      { userId: "alice", files: memory("a.md", "MEMORY.md") },
      { userId: "alice", files: memory("a.md", "trash/a.20231114T221320000Z.md", "MEMORY.md") },
    ]);
  },
);

test.for([
  { name: "reads", tool: "ReadUserMemory", input: { name: "a" } },
  { name: "fails", tool: "UpdateUserMemory", input: { action: "delete", name: "a" } },
  { name: "is refused", tool: "UpdateUserMemory", input: {} },
  { name: "writes and fails", tool: "Puppet", input: [write("a.md", "x"), { output: "{}" }] },
  { name: "is denied", tool: "Puppet", input: [write("a.md", "x"), ask("store_read", { scope: "x", path: "a" })] },
  { name: "writes nothing", tool: "Puppet", input: [] },
  { name: "is cancelled", tool: "Puppet", input: [write("a.md", "x")], signal: AbortSignal.abort() },
])("does not report a call that $name", async ({ tool, input, signal }) => {
  await using told = await openListeningStage();
  await told.stage.runtime.call(tool, input, { userId: "alice", signal });
  expect(told.stage.filesOf("alice")).toEqual({});
  expect(told.changes).toEqual([]);
});

test("does not report a call that is cancelled while its guest runs", async () => {
  const controller = new AbortController();
  await using told = await openListeningStage({ onLog: () => controller.abort() });
  const steps = [write("a.md", "x"), { log: "staged", times: 1 }];
  const result = await told.stage.runtime.call("Puppet", steps, { userId: "alice", signal: controller.signal });
  expect(result).toMatchObject({ error: { code: "CANCELLED" } });
  expect(told.changes).toEqual([]);
});

test("at the notification the file exists and is recorded, and the result is not out yet", async () => {
  await using stage = await openAuditedStage();
  const { runtime, dataDir } = stage;
  let isResolved = false;
  const seen: unknown[] = [];
  runtime.onChange(({ userId, files }) => {
    const there = files.map(({ scope, path }) => existsSync(join(userFolder(dataDir, userId), scope, path)));
    seen.push({ there, isResolved, kinds: stage.records().map(({ kind }) => kind) });
  });
  await runtime.call("UpdateUserMemory", upsert("a"), alice);
  isResolved = true;
  expect(seen).toEqual([{ there: [true, true], isResolved: false, kinds: ["opened", "staged"] }]);
});

test("reports one user's changes in order, and several users' to each listener once", async () => {
  await using told = await openListeningStage();
  const { runtime } = told.stage;
  const users = ["alice", "bob", "carol"];
  await Promise.all(
    users.flatMap((userId) =>
      [1, 2, 3, 4].map((at) => runtime.call("Puppet", [write(`${userId}-${at}.md`, "x")], { userId })),
    ),
  );
  for (const userId of users) {
    const paths = told.changes.filter((change) => change.userId === userId).flatMap(({ files }) => files);
    expect(paths).toEqual(memory(...[1, 2, 3, 4].map((at) => `${userId}-${at}.md`)));
  }
  expect(told.changes).toHaveLength(12);
});

test("reports repairs, restores and purges, but not inspections", async () => {
  await using told = await openListeningStage();
  const { runtime } = told.stage;
  const { upkeep } = runtime;
  await runtime.call("UpdateUserMemory", upsert("a"), alice);
  await runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, alice);
  const [file] = await upkeep.listTrash(alice);
  const trashed = `trash/${file?.name}`;
  const told1 = told.changes.splice(0);
  expect(told1).toHaveLength(2);
  await upkeep.inspect(alice);
  await upkeep.mend(alice);
  expect(told.changes).toEqual([]);
  await upkeep.restore(alice, "a");
  expect(told.changes.splice(0)).toEqual([{ userId: "alice", files: memory("a.md", "MEMORY.md", trashed) }]);
  await runtime.call("Puppet", [ask("store_trash", { scope: "memory", path: "MEMORY.md" })], alice);
  told.changes.splice(0);
  expect(await upkeep.mend(alice)).not.toEqual([]);
  expect(told.changes.splice(0)).toEqual([{ userId: "alice", files: memory("MEMORY.md") }]);
  const purged = await upkeep.purge(alice, { beforeEpochMs: 9e15 });
  expect(told.changes).toEqual([{ userId: "alice", files: memory(...purged.map(({ name }) => `trash/${name}`)) }]);
});

test("reports an import as its one change set; a plan or an export is not reported", async () => {
  await using told = await openListeningStage();
  const { runtime } = told.stage;
  await runtime.call("UpdateUserMemory", upsert("a"), alice);
  const { files } = await runtime.upkeep.export(alice);
  await runtime.upkeep.planImport({ userId: "bob" }, files);
  expect(told.changes.splice(0)).toHaveLength(1);
  await runtime.upkeep.import({ userId: "bob", labels: { movement: "3" } }, files);
  expect(told.changes).toEqual([{ userId: "bob", files: memory("MEMORY.md", "a.md") }]);
  expect(told.stage.recordsOf("staged").at(-1)).toMatchObject({ userId: "bob", labels: { movement: "3" } });
});

test("a listener that throws or rejects disturbs nobody, and is reported to the operator", async () => {
  const log: LogEntry[] = [];
  await using stage = await openAuditedStage({ onLog: (entry) => log.push(entry) });
  const { runtime } = stage;
  runtime.onChange(() => {
    throw new Error("at once");
  });
  runtime.onChange(withoutType(rejecting));
  runtime.onChange(() => {
    // oxlint-disable-next-line no-throw-literal -- programs do
    throw undefined;
  });
  let isTold = false;
  runtime.onChange(() => (isTold = true));
  const result = await runtime.call("UpdateUserMemory", upsert("a"), { userId: "alice", callId: "c1" });
  expect(result).toMatchObject({ ok: true });
  expect(isTold).toBe(true);
  const reasons = log.map(({ text }) => /at once|later|undefined/.exec(text)?.[0]);
  expect(new Set(reasons)).toEqual(new Set(["at once", "later", "undefined"]));
  expect(reasons).toHaveLength(3);
  for (const { tool, userId, callId } of log) {
    expect({ tool, userId, callId }).toEqual({ tool: "UpdateUserMemory", userId: "alice", callId: "c1" });
  }
});

test("an operator's log that throws as well disturbs nobody", async () => {
  await using stage = await openAuditedStage({
    onLog: () => {
      throw new Error("full");
    },
  });
  stage.runtime.onChange(() => {
    throw new Error("at once");
  });
  expect(await stage.runtime.call("UpdateUserMemory", upsert("a"), alice)).toMatchObject({ ok: true });
});

test("nor does one that rejects", async () => {
  await using stage = await openAuditedStage({ onLog: rejecting });
  stage.runtime.onChange(() => {
    throw new Error("at once");
  });
  expect(await stage.runtime.call("UpdateUserMemory", upsert("a"), alice)).toMatchObject({ ok: true });
});

test("does not wait for a listener that never ends", async () => {
  await using stage = await openAuditedStage();
  stage.runtime.onChange(withoutType(never));
  expect(await stage.runtime.call("UpdateUserMemory", upsert("a"), alice)).toMatchObject({ ok: true });
});

test("a listener cannot alter what the next one gets, or what is recorded", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const attempts: boolean[] = [];
  runtime.onChange((change) => {
    const [file] = change.files;
    attempts.push(Reflect.set(change, "userId", "bob"), Reflect.set(change.files, "length", 0));
    attempts.push(Reflect.set(file ?? {}, "path", "other.md"), Reflect.set(change.files, 0, "other"));
  });
  const told: MemoryChange[] = [];
  runtime.onChange((change) => told.push(change));
  await runtime.call("UpdateUserMemory", upsert("a"), alice);
  expect(attempts).toEqual([false, false, false, false]);
  expect(told).toEqual([{ userId: "alice", files: memory("a.md", "MEMORY.md") }]);
  expect(stage.recordsOf("call")).toMatchObject([{ writes: [{ path: "a.md" }, { path: "MEMORY.md" }] }]);
});

test("a removed listener gets nothing more, even during a notification; a new one starts with the next", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const told: string[] = [];
  const stopFirst = runtime.onChange(() => {
    told.push("first");
    stopFirst();
    stopThird();
    runtime.onChange(() => told.push("late"));
  });
  runtime.onChange(() => told.push("second"));
  const stopThird = runtime.onChange(() => told.push("third"));
  await runtime.call("Puppet", [write("a.md", "x")], alice);
  expect(told).toEqual(["first", "second"]);
  stopFirst();
  await runtime.call("Puppet", [write("a.md", "y")], alice);
  expect(told.slice(2)).toEqual(["second", "late"]);
});

test("a function registered twice is called twice, and each registration ends alone", async () => {
  await using stage = await openAuditedStage();
  let times = 0;
  const listener = (): void => void times++;
  const [stop] = [stage.runtime.onChange(listener), stage.runtime.onChange(listener)];
  stop();
  stop();
  await stage.runtime.call("Puppet", [write("a.md", "x")], alice);
  expect(times).toBe(1);
  expect(() => stage.runtime.onChange(7 as never)).toThrow(TypeError);
});

test("a listener can call the runtime", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const found = new Promise((resolve) => {
    runtime.onChange(({ userId }) => void runtime.memoryIndex({ userId }).then(resolve));
  });
  await runtime.call("UpdateUserMemory", upsert("a"), alice);
  expect(await found).toContain("a");
});
