/**
 * A full disk and a read-only one: files stay and can be read, every change is a coded error without effect, and one line
 * tells the operator, not one a call. The same runtime continues when the disk can be written again.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";

import type { LogEntry, Runtime } from "memcell";
import { afterEach, expect, test, vi } from "vitest";

import { HttpProcess } from "../stage/http-process.ts";
import { connectClient } from "../stage/http.ts";
import { runCommand } from "../support/run-command.ts";
import { readUserFiles, userFolder } from "../support/user-files.ts";
import { createRuntime } from "./host-under-test.ts";
import { alice, diskOr, fillUp } from "./small-disk-store.ts";

const kib = 1024;
const ctx = { userId: alice };
const upsert = (name: string) => ({ action: "upsert", name, type: "user", description: "d", body: "x".repeat(20_000) });

/** Calls of several users, in turn and at once. All must fail in this way, and trying again does not help. */
async function failOften(runtime: Runtime, code: string): Promise<void> {
  const error = { code, blame: "host", retryable: false };
  for (let round = 0; round < 5; round++) {
    const calls = [alice, "bob", "carol", "dave"].map((userId) =>
      runtime.call("UpdateUserMemory", upsert(`entry-${round}`), { userId }),
    );
    calls.push(runtime.call("UpdateUserMemory", upsert("first"), ctx));
    for (const result of await Promise.all(calls)) expect(result).toMatchObject({ ok: false, error });
  }
}

async function expectReadable(runtime: Runtime): Promise<void> {
  expect(await runtime.call("ReadUserMemory", { name: "first" }, ctx)).toMatchObject({ ok: true });
  expect(await runtime.memoryIndex(ctx)).toContain("first");
}

const full = 'Free space on that disk, for example with "memcell trash purge". This is told once a minute';
afterEach(() => vi.useRealTimers());

test.for([
  {
    name: "a full disk",
    spoils: "full",
    code: "STORAGE_FULL",
    told: `Cannot write FILE: the disk is full (ENOSPC), so calls fail with STORAGE_FULL. ${full}`,
  },
  {
    name: "a read-only disk",
    spoils: "read-only",
    code: "STORAGE_FAILED",
    told: expect.stringMatching(
      /: the disk is read-only \(EROFS\), so calls fail with STORAGE_FAILED\. Mount that disk for writing\./,
    ),
  },
  {
    name: "a full disk of the audit log",
    spoils: "the log's",
    code: "STORAGE_FULL",
    told: `Cannot write the audit log: the disk is full (ENOSPC), so calls fail with STORAGE_FULL. ${full}`,
  },
])("$name: one line a minute, and calls that trying again does not help", async ({ spoils, code, told }, context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: (spoils === "read-only" ? 4096 : 512) * kib });
  using other = await diskOr(context, "tmpfs", { bytes: 4096 * kib });
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void log.push(entry);
  const [data, auditLog] = spoils === "the log's" ? [other, { file: join(disk.path, "audit.jsonl") }] : [disk];
  const dataDir = join(data.path, "data");
  await using runtime = await createRuntime({ dataDir, threadsMax: 1, onLog, ...(auditLog && { auditLog }) });
  await runtime.call("UpdateUserMemory", upsert("first"), ctx);
  const before = readUserFiles(dataDir, alice);
  if (spoils === "read-only") await disk.remountReadOnly();
  else fillUp(join(disk.path, "ballast"));
  vi.useFakeTimers({ toFake: ["performance"] });
  if (auditLog) for (let count = 0; count < 50; count++) runtime.refused({ surface: "http", reason: "token-expired" });
  else await expectReadable(runtime);
  const errors = (): string[] =>
    log.flatMap(({ level, text }) => (level === "error" ? [text.replace(/"[\w-]+\.md"/, "FILE")] : []));
  await failOften(runtime, code);
  vi.advanceTimersByTime(59_000);
  await failOften(runtime, code);
  expect(errors()).toEqual([told]);
  vi.advanceTimersByTime(1_000);
  await failOften(runtime, code);
  expect(errors()).toEqual([told, told]);
  expect(readUserFiles(dataDir, alice)).toEqual(before);
  if (spoils === "read-only") await runCommand("mount", ["-o", "remount,bind,rw", disk.path]);
  else rmSync(join(disk.path, "ballast"));
  expect(await runtime.call("UpdateUserMemory", upsert("later"), ctx)).toMatchObject({ ok: true });
});

test.for([".memcell", ".memcell/lock", ".memcell/turnstile", ".memcell/journal"])(
  "on a read-only disk a user without %s is read",
  async (lacking, context) => {
    using disk = await diskOr(context, "tmpfs", { bytes: 4096 * kib });
    const dataDir = join(disk.path, "data");
    {
      await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
      await runtime.call("UpdateUserMemory", upsert("first"), ctx);
    }
    rmSync(join(userFolder(dataDir, alice), lacking), { recursive: true });
    await disk.remountReadOnly();
    await using runtime = await createRuntime({ dataDir, threadsMax: 1 });
    await expectReadable(runtime);
    await failOften(runtime, "STORAGE_FAILED");
  },
);

test("memcell serve prints the line once, and its clients are told not to try again", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 512 * kib });
  await using served = new HttpProcess(["--user", "alice"], { cwd: disk.path });
  const client = await connectClient(await served.url(), null, "legacy");
  const call = (name: string) => client.callTool({ name: "UpdateUserMemory", arguments: upsert(name) });
  expect((await call("first")).isError ?? false).toBe(false);
  fillUp(join(disk.path, "ballast"));
  for (let count = 0; count < 10; count++) {
    const failure = { code: "STORAGE_FULL", retryable: false };
    expect(await call(`entry-${count}`)).toMatchObject({ isError: true, _meta: { "memcell/error": failure } });
  }
  rmSync(join(disk.path, "ballast"));
  await client.close();
  const { lines } = await served.end();
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^error UpdateUserMemory: Cannot write "[^"]+": the disk is full \(ENOSPC\), so calls fail /),
  ]);
});

test.for([
  { kind: "tmpfs", bytes: 2048 * kib, isNewProcess: false },
  { kind: "ext4", bytes: 4096 * kib, isNewProcess: true },
] as const)(
  "on a full $kind disk a purge and an erasure make room, new process: $isNewProcess",
  async (of, context) => {
    using disk = await diskOr(context, of.kind, of);
    const dataDir = join(disk.path, "data");
    const ballast = join(disk.path, "ballast");
    const open = () => createRuntime({ dataDir, plugins: ["user-memory", "stores"], threadsMax: 1 });
    await using former = await open();
    // What goes away has more bytes than a later write needs, which is in the journal and in its file.
    const create = { command: "create", path: "/memories/gone", content: "x".repeat(100_000) };
    for (const userId of [alice, "bob"]) {
      expect(await former.call("UpdateUserMemory", upsert("gone"), { userId })).toMatchObject({ ok: true });
      expect(await former.call("memory", create, { userId })).toMatchObject({ ok: true });
    }
    await former.stores({ userId: "bob" }).grant(alice);
    await former.call("UpdateUserMemory", { action: "delete", name: "gone" }, ctx);
    await former.call("memory", { command: "delete", path: "/memories/gone" }, ctx);
    await using later = await open();
    const runtime = of.isNewProcess ? later : former;
    const store = () => runtime.call("UpdateUserMemory", upsert("more"), ctx);
    const fillAll = async (): Promise<void> => {
      // What is packed makes room once more.
      do fillUp(ballast);
      while ((await store()).ok);
      expect(await store()).toMatchObject({ error: { code: "STORAGE_FULL" } });
      fillUp(ballast);
    };

    await fillAll();
    const purged = await runtime.upkeep.purge(ctx, { beforeEpochMs: Number.MAX_SAFE_INTEGER });
    expect(purged.map(({ scope }) => scope).toSorted()).toEqual(["memory", "store"]);
    expect(await runtime.upkeep.listTrash(ctx)).toEqual([]);
    expect(await store()).toMatchObject({ ok: true });

    await fillAll();
    expect(await runtime.upkeep.erase(ctx)).toMatchObject({ left: [] });
    expect(await runtime.upkeep.users()).toEqual(["bob"]);
    // What it has freed is enough to change the grants of others.
    expect(await runtime.stores({ userId: "bob" }).grants()).toEqual([]);
    expect(await runtime.upkeep.strays()).toEqual([]);
    expect(await store()).toMatchObject({ ok: true });
    expect((await runtime.upkeep.inspect(ctx)).filter(({ problem }) => problem !== "journal-in-use")).toEqual([]);
  },
);
