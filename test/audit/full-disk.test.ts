/** Disks that are full or read-only: nothing is committed without a record, no line is torn, and the log goes on. */
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { diskOr } from "../crash/small-disk-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ask, openAuditedStage, readRecords, write } from "./audited-stage.ts";
import { linesOf, logName, openLog, recordsOf, smallestFile, told, verify } from "./written-log.ts";
import type { WritingLog } from "./written-log.ts";

const pageBytes = 4096;

/** Fills the disk. The log's last page keeps the room it has. */
function fill(folder: string): string {
  const file = join(folder, "filler");
  for (;;) {
    try {
      writeFileSync(file, Buffer.alloc(pageBytes), { flag: "a" });
    } catch {
      return file;
    }
  }
}

/** Writes records until the log's last page has at least `bytes`, and at most 100 bytes more, of room. */
async function leaveRoom({ runtime }: Pick<WritingLog, "runtime">, file: string, bytes: number): Promise<void> {
  const room = (): number => pageBytes - (statSync(file).size % pageBytes);
  while (room() < bytes || room() > bytes + 100) {
    const missing = room() - bytes;
    await runtime.call("Nothing", {}, { userId: "alice", callId: "x".repeat(missing > 600 || missing < 0 ? 128 : 30) });
  }
}

const ctx = { userId: "alice", callId: "committed" };
const change = [write("a.md", "x")];

test("with the log's disk full, every call fails and nothing is committed until there is room again", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 64 * pageBytes });
  const file = join(disk.path, logName);
  const causes: string[] = [];
  await using stage = await openAuditedStage({ auditLog: { file }, onLog: ({ text }) => causes.push(text) });
  const { runtime } = stage;
  await leaveRoom(stage, file, 0);
  const filler = fill(disk.path);
  const message = expect.stringMatching(/the audit log cannot be written$/) as string;
  const full = { ok: false, error: { code: "STORAGE_FULL", message } };
  for (const steps of [change, [ask("store_read", { scope: "x", path: "y" })]]) {
    expect(await runtime.call("Puppet", steps, ctx)).toMatchObject(full);
  }
  expect(await runtime.call("ReadUserMemory", { name: "a" }, ctx)).toMatchObject(full);
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
  using disk = await diskOr(context, "tmpfs", { bytes: 64 * pageBytes });
  const file = join(disk.path, logName);
  await using stage = await openAuditedStage({ auditLog: { file } });
  await leaveRoom(stage, file, 450);
  fill(disk.path);
  expect(await stage.runtime.call("Puppet", change, ctx)).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "x" });
  const records = readRecords(file).filter((record) => "callId" in record && record.callId === ctx.callId);
  expect(records).toMatchObject([{ kind: "staged", writes: [{ path: "a.md", bytes: 1 }] }]);
});

test('with onFailure "continue", calls go on and the log says how many records are lost', async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 64 * pageBytes });
  const file = join(disk.path, logName);
  const notes: string[] = [];
  const options = { auditLog: { file, onFailure: "continue" as const } };
  await using stage = await openAuditedStage({ ...options, onLog: ({ text }) => notes.push(text) });
  await leaveRoom(stage, file, 0);
  const filler = fill(disk.path);
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

test.for([
  { kind: "tmpfs", bytes: 256 * 1024 },
  { kind: "ext4", bytes: 4096 * 1024 },
] as const)(
  "a $kind disk fills up: no line is torn, and the log goes on when there is room",
  async ({ kind, bytes }, context) => {
    using disk = await diskOr(context, kind, { bytes });
    const ballast = join(disk.path, "ballast");
    writeFileSync(ballast, Buffer.alloc(80 * 1024, 1));
    using folder = temporaryFolder();
    const log = await openLog(folder.path, { file: join(disk.path, logName), fileBytesMax: smallestFile });
    let written = 0;
    while ((await log.longCall(written)) === "ok") written++;
    const { size } = statSync(join(disk.path, logName));
    expect(await log.longCall(written)).toBe("STORAGE_FULL");
    expect(statSync(join(disk.path, logName)).size).toBe(size);
    expect(told(await verify(join(disk.path, logName)))).toEqual([]);
    rmSync(ballast);
    expect(await log.longCall(written)).toBe("ok");
    await log.runtime.close();
    expect(recordsOf(disk.path)).toHaveLength(written + 3);
    expect((await verify(join(disk.path, logName))).isIntact).toBe(true);
  },
);

test('a disk becomes read-only: the record is refused, or lost with onFailure "continue"', async (context) => {
  using disk = await diskOr(context, "ext4", { bytes: 4096 * 1024 });
  using folder = temporaryFolder();
  const strict = await openLog(folder.path, { file: join(disk.path, logName) });
  const lenient = await openLog(folder.path, { file: join(disk.path, "other.jsonl"), onFailure: "continue" });
  await disk.remountReadOnly();
  expect([await strict.call(1), await lenient.call(1)]).toEqual(["STORAGE_FAILED", "ok"]);
  expect(strict.notes.join()).toContain("Cannot write the audit log: the disk is read-only");
  for (const { runtime } of [strict, lenient]) await runtime.close();
  expect(linesOf(disk.path)).toHaveLength(1);
});
