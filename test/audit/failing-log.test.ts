/**
 * A log that cannot be written: nothing is committed without a record, and committed changes are reported as committed.
 */
import { statSync, writeFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { TestContext } from "vitest";
import { expect, test } from "vitest";

import { loopDisk } from "../support/loop-disk.ts";
import type { LoopDisk } from "../support/loop-disk.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { ask, openAuditedStage, write } from "./audited-stage.ts";
import type { AuditedStage } from "./audited-stage.ts";

const pageBytes = 4096;

async function diskOr(context: TestContext): Promise<LoopDisk> {
  const disk = await loopDisk("tmpfs", { bytes: 64 * pageBytes });
  return typeof disk === "string" ? skipWithReason(context, disk) : disk;
}

/** Fills the disk. The log's last page keeps the room it has. */
function fill(disk: LoopDisk): string {
  const file = join(disk.path, "filler");
  for (let pages = 1; ; pages++) {
    try {
      writeFileSync(file, Buffer.alloc(pageBytes), { flag: "a" });
    } catch {
      return file;
    }
  }
}

/** Writes records until the log's last page has at least `bytes`, and at most 100 bytes more, of room. */
async function leaveRoom(stage: AuditedStage, bytes: number): Promise<void> {
  const room = (): number => pageBytes - (statSync(stage.logFile).size % pageBytes);
  while (room() < bytes || room() > bytes + 100) {
    const missing = room() - bytes;
    const callId = "x".repeat(missing > 600 || missing < 0 ? 128 : 30);
    // oxlint-disable-next-line no-await-in-loop -- the room after each decides
    await stage.runtime.call("Nothing", {}, { userId: "alice", callId });
  }
}

const full = {
  ok: false,
  error: { code: "STORAGE_FULL", message: expect.stringMatching(/the audit log cannot be written$/) },
};

test("with the log's disk full, every call fails and nothing is committed until there is room again", async (context) => {
  using disk = await diskOr(context);
  const causes: string[] = [];
  await using stage = await openAuditedStage({ logFolder: disk.path, onLog: ({ text }) => causes.push(text) });
  const { runtime } = stage;
  await leaveRoom(stage, 0);
  const filler = fill(disk);
  const ctx = { userId: "alice" };
  expect(await runtime.call("Puppet", [write("a.md", "x")], ctx)).toMatchObject(full);
  expect(await runtime.call("Puppet", [ask("store_read", { scope: "x", path: "y" })], ctx)).toMatchObject(full);
  expect(await runtime.call("ReadUserMemory", { name: "a" }, ctx)).toMatchObject(full);
  expect(await runtime.call("Nothing", {}, ctx)).toMatchObject(full);
  await expect(runtime.memoryIndex(ctx)).rejects.toMatchObject({ code: "STORAGE_FULL" });
  await expect(runtime.upkeep.listTrash(ctx)).rejects.toMatchObject({ code: "STORAGE_FULL" });
  expect(stage.filesOf("alice")).toEqual({});
  expect(causes).toEqual([expect.stringContaining("Cannot write the audit log: the disk is full (ENOSPC), so calls ")]);
  rmSync(filler);
  expect(await runtime.call("Puppet", [write("a.md", "x")], ctx)).toMatchObject({ ok: true });
  expect(stage.recordsOf("call").at(-1)).toMatchObject({ changes: "committed", code: null });
});

test('with onFailure "continue", calls go on and the log says how many records are lost', async (context) => {
  using disk = await diskOr(context);
  const file = join(disk.path, "audit.jsonl");
  await using stage = await openAuditedStage({
    logFolder: disk.path,
    auditLog: { file, onFailure: "continue" },
  });
  await leaveRoom(stage, 0);
  const filler = fill(disk);
  expect(await stage.runtime.call("Puppet", [write("a.md", "x")], { userId: "alice" })).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "x" });
  rmSync(filler);
  await stage.runtime.call("Puppet", [], { userId: "alice" });
  expect(stage.recordsOf("lost")).toMatchObject([{ records: 2 }]);
});

test("a committed call succeeds even if only its last record has no room", async (context) => {
  using disk = await diskOr(context);
  await using stage = await openAuditedStage({ logFolder: disk.path });
  await leaveRoom(stage, 450);
  fill(disk);
  const ctx = { userId: "alice", callId: "committed" };
  expect(await stage.runtime.call("Puppet", [write("a.md", "x")], ctx)).toMatchObject({ ok: true });
  expect(stage.filesOf("alice")).toEqual({ "memory/a.md": "x" });
  expect(stage.recordsOf("staged", "committed")).toMatchObject([{ writes: [{ path: "a.md", bytes: 1 }] }]);
  expect(stage.recordsOf("call", "committed")).toEqual([]);
});
