/** A full disk and a read-only one fail every call that changes something: one line tells the operator, not one a call. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import type { LogEntry, Runtime, ToolResult } from "memcell";
import { afterEach, expect, test, vi } from "vitest";

import { HttpProcess } from "../stage/http-process.ts";
import { connectClient } from "../stage/http.ts";
import { createRuntime } from "./host-under-test.ts";
import { diskOr, fillUp } from "./small-disk-store.ts";

const kib = 1024;
const upsert = (name: string) => ({ action: "upsert", name, type: "user", description: "d", body: "x".repeat(20_000) });

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
  const options = { dataDir: join(data.path, "data"), threadsMax: 1, onLog, ...(auditLog && { auditLog }) };
  await using runtime = await createRuntime(options);
  if (auditLog === undefined) await runtime.call("UpdateUserMemory", upsert("first"), { userId: "alice" });
  if (spoils === "read-only") await disk.remountReadOnly();
  else fillUp(join(disk.path, "ballast"));
  vi.useFakeTimers({ toFake: ["performance"] });
  if (auditLog) for (let count = 0; count < 50; count++) runtime.refused({ surface: "http", reason: "token-expired" });
  const errors = (): string[] =>
    log.flatMap(({ level, text }) => (level === "error" ? [text.replace(/"[\w-]+\.md"/, "FILE")] : []));
  for (const error of await failOften(runtime)) expect(error).toMatchObject({ code, blame: "host", retryable: false });
  vi.advanceTimersByTime(59_000);
  await failOften(runtime);
  expect(errors()).toEqual([told]);
  vi.advanceTimersByTime(1_000);
  await failOften(runtime);
  expect(errors()).toEqual([told, told]);
  if (spoils === "read-only") return;
  rmSync(join(disk.path, "ballast"));
  expect(await runtime.call("UpdateUserMemory", upsert("later"), { userId: "alice" })).toMatchObject({ ok: true });
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
