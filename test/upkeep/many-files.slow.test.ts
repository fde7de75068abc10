/** As many files as tools can list, and more in the trash: it is there to be relieved. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { expect, test } from "vitest";

import { auditLimits } from "../../shared/limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

const alice = { userId: "alice" };

const logIn = (dataDir: string): string => join(dataDir, "audit.log");

async function openWithTrash(dataDir: string, count: number): Promise<Runtime> {
  const trash = join(userFolder(dataDir, "alice"), "memory", "trash");
  mkdirSync(trash, { recursive: true });
  writeFileSync(join(trash, "..", "MEMORY.md"), "");
  for (let at = 0; at < count; at++) writeFileSync(join(trash, `y${at}.20260101T000000000Z.md`), "");
  const auditLog = { file: logIn(dataDir) };
  return await createRuntime({ dataDir, threadsMax: 1, durability: "relaxed", auditLog });
}

/** The last record of an operation in the audit log. */
function recordOf(file: string, action: string): unknown {
  const records = readFileSync(file, "utf8").trimEnd().split("\n");
  const ofAction = records.map((line) => JSON.parse(line) as { kind: string; action?: string });
  return ofAction.findLast((record) => record.kind === "upkeep" && record.action === action);
}

test("a trash of 25,000 files is listed, exported, imported, inspected and purged", { timeout: 180_000 }, async () => {
  using folder = temporaryFolder();
  const count = 25_000;
  await using runtime = await openWithTrash(folder.path, count);
  expect(await runtime.upkeep.listTrash(alice)).toHaveLength(count);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  const { files } = await runtime.upkeep.export(alice);
  expect(files).toHaveLength(count + 1);
  const { trashed } = await runtime.upkeep.import({ userId: "bob" }, files);
  expect(trashed).toHaveLength(count);
  const restored = await runtime.upkeep.restore(alice, "y7.20260101T000000000Z.md");
  expect(restored.path).toBe("y7.md");
  expect(await runtime.upkeep.purge(alice, { beforeEpochMs: Date.UTC(2027, 0) })).toHaveLength(count - 1);
  expect(await runtime.upkeep.listTrash(alice)).toEqual([]);
});

test("a trash of more files than a call has room for arguments is purged", { timeout: 180_000 }, async () => {
  using folder = temporaryFolder();
  const count = 150_000;
  await using runtime = await openWithTrash(folder.path, count);
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(await runtime.upkeep.listTrash(alice)).toHaveLength(count);
  await expect(runtime.upkeep.export(alice)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining('at most 60000 allowed; "memcell trash purge" empties its trash'),
  });
  expect(await runtime.upkeep.restore(alice, "y7.20260101T000000000Z.md")).toMatchObject({ path: "y7.md" });
  expect(await runtime.upkeep.purge(alice, { beforeEpochMs: Date.UTC(2027, 0) })).toHaveLength(count - 1);
  const removedHidden = count - 1 - auditLimits.recordFilesMax;
  expect(recordOf(logIn(folder.path), "purge")).toMatchObject({ code: null, removedHidden });
});

test("one file more outside the trash than tools can list is not imported", { timeout: 120_000 }, async () => {
  await using runtime = await createRuntime({ dataDir: "unused", plugins: ["journal"], threadsMax: 1 });
  const files = Array.from({ length: 20_001 }, (_, at) => {
    const path = `2026/${String(at % 100).padStart(2, "0")}/${at}.md`;
    return { scope: "journal", path, content: Buffer.alloc(0) };
  });
  await expect(runtime.upkeep.planImport(alice, files)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: 'Cannot import the memory: its scope "journal" has 20001 files, at most 20000 allowed',
  });
});
