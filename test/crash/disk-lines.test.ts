/** A full disk and a read-only one fail every call that changes something: one line tells the operator, not one a call. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { LogEntry, Runtime, ToolResult } from "memcell";
import { afterEach, expect, test, vi } from "vitest";

import { limitedLog } from "../../host/log/limited-log.ts";
import { HttpProcess } from "../stage/http-process.ts";
import { connectClient } from "../stage/http.ts";
import { createRuntime } from "./host-under-test.ts";
import { diskOr } from "./small-disk-store.ts";

const kib = 1024;
const upsert = (name: string) => ({ action: "upsert", name, type: "user", description: "d", body: "x".repeat(20_000) });

/** Fills a disk to the last byte. */
function fillUp(path: string): void {
  const content = Buffer.alloc(4 * kib, 1);
  try {
    for (;;) writeFileSync(path, content, { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Failures of calls of several users, in turn and at once. All must fail. */
async function failOften(runtime: Runtime): Promise<(ToolResult & { readonly ok: false })["error"][]> {
  const results: ToolResult[] = [];
  for (let round = 0; round < 5; round++) {
    const calls = ["alice", "bob", "carol", "dave"].map((userId) =>
      runtime.call("UpdateUserMemory", upsert(`entry-${round}`), { userId }),
    );
    results.push(...(await Promise.all(calls)));
  }
  const failures = results.flatMap((result) => (result.ok ? [] : [result.error]));
  expect(failures).toHaveLength(20);
  return failures;
}

const full = 'Free space on that disk, for example with "memcell trash purge". This is told once a minute';

test("a full disk: one line, and calls that trying again does not help", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 512 * kib });
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void log.push(entry);
  await using runtime = await createRuntime({ dataDir: join(disk.path, "data"), threadsMax: 1, onLog });
  await runtime.call("UpdateUserMemory", upsert("first"), { userId: "alice" });
  fillUp(join(disk.path, "ballast"));
  for (const error of await failOften(runtime)) {
    expect(error).toMatchObject({ code: "STORAGE_FULL", blame: "host", retryable: false });
  }
  expect(log.map(({ level, text }) => ({ level, text: text.replace(/"[\w-]+\.md"/, "FILE") }))).toEqual([
    { level: "error", text: `Cannot write FILE: the disk is full (ENOSPC), so calls fail with STORAGE_FULL. ${full}` },
  ]);
  rmSync(join(disk.path, "ballast"));
  expect(await runtime.call("UpdateUserMemory", upsert("later"), { userId: "alice" })).toMatchObject({ ok: true });
});

test("a read-only disk: one line, and calls that trying again does not help", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 4096 * kib });
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void log.push(entry);
  await using runtime = await createRuntime({ dataDir: join(disk.path, "data"), threadsMax: 1, onLog });
  await runtime.call("UpdateUserMemory", upsert("first"), { userId: "alice" });
  await disk.remountReadOnly();
  for (const error of await failOften(runtime)) {
    expect(error).toMatchObject({ code: "STORAGE_FAILED", blame: "host", retryable: false });
  }
  expect(log).toMatchObject([
    {
      level: "error",
      text: expect.stringMatching(
        /: the disk is read-only \(EROFS\), so calls fail with STORAGE_FAILED\. Mount that disk for writing\./,
      ),
    },
  ]);
});

test("a full disk of the audit log: one line that names the log", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 512 * kib });
  using data = await diskOr(context, "tmpfs", { bytes: 4096 * kib });
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void log.push(entry);
  const auditLog = { file: join(disk.path, "audit.jsonl") };
  await using runtime = await createRuntime({ dataDir: join(data.path, "data"), auditLog, threadsMax: 1, onLog });
  fillUp(join(disk.path, "ballast"));
  for (let count = 0; count < 50; count++) runtime.refused({ surface: "http", reason: "token-expired" });
  for (const error of await failOften(runtime)) expect(error).toMatchObject({ code: "STORAGE_FULL", retryable: false });
  const told = `Cannot write the audit log: the disk is full (ENOSPC), so calls fail with STORAGE_FULL. ${full}`;
  expect(log.filter(({ level }) => level === "error").map(({ text }) => text)).toEqual([told]);
  rmSync(join(disk.path, "ballast"));
});

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

afterEach(() => vi.useRealTimers());

test("a topic is told again after a minute, other topics at once, and no topic always", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const told: LogEntry[] = [];
  const log = limitedLog((entry) => void told.push(entry));
  const line = { level: "error", tool: "", userId: "", callId: "" } as const;
  const tell = (text: string, topic?: string): void => log({ ...line, text, ...(topic !== undefined && { topic }) });
  tell("one", "full");
  tell("two", "full");
  tell("three", "read-only");
  tell("four");
  tell("five");
  vi.advanceTimersByTime(59_999);
  tell("six", "full");
  vi.advanceTimersByTime(1);
  tell("seven", "full");
  expect(told.map(({ text }) => text)).toEqual(["one", "three", "four", "five", "seven"]);
  expect(told[0]).toEqual({ ...line, text: "one" });
});
