/** Disks that are full or read-only: nothing is committed without a record, no line is torn, and the log goes on. */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { diskOr, fillUp } from "../crash/small-disk-store.ts";
import { runCommand } from "../support/run-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ask, openAuditedStage, readRecords, write } from "./audited-stage.ts";
import type { AuditedStage } from "./audited-stage.ts";
import { linesOf, logName, openLog, verify } from "./written-log.ts";

const pageBytes = 4096;

/** Writes records until the log's last page has at least `bytes`, and at most 100 bytes more, of room; then fills the disk. */
async function fillBut({ runtime, logFile }: AuditedStage, bytes: number): Promise<string> {
  const room = (): number => pageBytes - (statSync(logFile).size % pageBytes);
  while (room() < bytes || room() > bytes + 100) {
    const missing = room() - bytes;
    await runtime.call("Nothing", {}, { userId: "alice", callId: "x".repeat(missing > 600 || missing < 0 ? 128 : 30) });
  }
  const filler = join(logFile, "../filler");
  fillUp(filler);
  return filler;
}

const ctx = { userId: "alice", callId: "committed" };
const change = [write("a.md", "x")];
const smallDisk = { bytes: 64 * pageBytes };

test("with the log's disk full, every call fails and nothing is committed until there is room again", async (context) => {
  using disk = await diskOr(context, "tmpfs", smallDisk);
  const file = join(disk.path, logName);
  const causes: string[] = [];
  await using stage = await openAuditedStage({ auditLog: { file }, onLog: ({ text }) => causes.push(text) });
  const { runtime } = stage;
  const filler = await fillBut(stage, 0);
  const message = expect.stringMatching(/the audit log cannot be written$/) as string;
  const full = { ok: false, error: { code: "STORAGE_FULL", message } };
  for (const steps of [change, [ask("store_read", { scope: "x", path: "y" })]]) {
    expect(await runtime.call("Puppet", steps, ctx)).toMatchObject(full);
  }
  expect(await runtime.call("Nothing", {}, ctx)).toMatchObject(full);
  await expect(runtime.memoryIndex(ctx)).rejects.toMatchObject({ code: "STORAGE_FULL" });
  await expect(runtime.upkeep.listTrash(ctx)).rejects.toMatchObject({ code: "STORAGE_FULL" });
  expect(stage.filesOf("alice")).toEqual({});
  expect(causes).toEqual([expect.stringContaining("Cannot write the audit log: the disk is full (ENOSPC), so calls ")]);
  rmSync(filler);
  expect(await runtime.call("Puppet", change, ctx)).toMatchObject({ ok: true });
  expect(readRecords(file).at(-1)).toMatchObject({ kind: "call", changes: "committed", code: null });
});

test("a committed call succeeds even if only its last record has no room", async (context) => {
  using disk = await diskOr(context, "tmpfs", smallDisk);
  await using stage = await openAuditedStage({ auditLog: { file: join(disk.path, logName) } });
  await fillBut(stage, 450);
  expect(await stage.runtime.call("Puppet", change, ctx)).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "x" });
  const records = readRecords(stage.logFile).filter((record) => "callId" in record && record.callId === ctx.callId);
  expect(records).toMatchObject([{ kind: "staged", writes: [{ path: "a.md", bytes: 1 }] }]);
});

test('with onFailure "continue", calls go on and the log says how many records are lost', async (context) => {
  using disk = await diskOr(context, "tmpfs", smallDisk);
  const file = join(disk.path, logName);
  const notes: string[] = [];
  const options = { auditLog: { file, onFailure: "continue" as const } };
  await using stage = await openAuditedStage({ ...options, onLog: ({ text }) => notes.push(text) });
  const filler = await fillBut(stage, 0);
  const written = readRecords(file).length;
  expect(await stage.runtime.call("Puppet", change, ctx)).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "x" });
  expect(notes).toEqual(["audit log: calls continue without records: Cannot write the audit log: the disk is full"]);
  rmSync(filler);
  await stage.runtime.call("Puppet", [], ctx);
  expect(notes.slice(1)).toEqual(["audit log: 2 records were lost"]);
  expect(readRecords(file).slice(written)).toMatchObject([{ kind: "lost", records: 2 }, { kind: "call" }]);
  const lost = [`before record ${written}, 2 records could not be written while calls continued`];
  expect(await verify(file)).toMatchObject({ isIntact: true, notes: lost });
});

test('a disk becomes read-only: the record is refused, or lost with onFailure "continue"', async (context) => {
  using disk = await diskOr(context, "ext4", { bytes: 4096 * 1024 });
  using folder = temporaryFolder();
  const strict = await openLog(folder.path, { file: join(disk.path, logName) });
  const lenient = await openLog(folder.path, { file: join(disk.path, "other.jsonl"), onFailure: "continue" });
  // Without waiting until nothing is open on the disk: a log stays open. ext4 refuses writes to it even so.
  await runCommand("sync", ["--file-system", disk.path]);
  await runCommand("mount", ["-o", "remount,abort", disk.path]);
  expect([await strict.call(1), await lenient.call(1)]).toEqual(["STORAGE_FAILED", "ok"]);
  expect(strict.notes.join()).toContain("Cannot write the audit log: the disk is read-only");
  for (const { runtime } of [strict, lenient]) await runtime.close();
  expect(linesOf(disk.path)).toHaveLength(1);
});
