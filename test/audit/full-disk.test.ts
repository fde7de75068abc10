/** Full and read-only disks leave no torn line, and the log goes on when it can write again. */
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { AuditLog } from "../../host/audit/audit-log.ts";
import { diskOr } from "../crash/small-disk-store.ts";
import { verifyLog } from "../stage/audit-log.ts";
import { callEntry, longEntry } from "./audit-entries.ts";
import { failureOf } from "./failure-of.ts";
import { linesOf, logName, openLog, recordsOf, smallestFile } from "./log-under-test.ts";

const isIntact = (folder: string): boolean => verifyLog([join(folder, logName)]).isIntact;

/** Appends until the disk refuses. Returns the number of records written. */
async function fillUp(log: AuditLog): Promise<number> {
  for (let count = 1; ; count++) {
    const { code } = await failureOf(() => log.append(longEntry(count)));
    if (code === "STORAGE_FULL") return count - 1;
    expect(code).toBe("ok");
  }
}

test.for([
  { kind: "tmpfs", bytes: 256 * 1024 },
  { kind: "ext4", bytes: 4096 * 1024 },
] as const)(
  "a $kind disk fills up: no line is torn, and the log goes on when there is room",
  async ({ kind, bytes }, context) => {
    using disk = await diskOr(context, kind, { bytes });
    writeFileSync(join(disk.path, "ballast"), Buffer.alloc(80 * 1024, 1));
    const log = await openLog(disk.path, { fileBytesMax: smallestFile });
    const written = await fillUp(log);
    const size = statSync(join(disk.path, logName)).size;
    expect(await fillUp(log)).toBe(0);
    expect(statSync(join(disk.path, logName)).size).toBe(size);
    expect(verifyLog([join(disk.path, logName)]).findings).toEqual([]);
    rmSync(join(disk.path, "ballast"));
    log.append(longEntry(99));
    log.close();
    expect(recordsOf(disk.path)).toHaveLength(written + 3);
    expect(isIntact(disk.path)).toBe(true);
  },
);

test('a log with onFailure "continue" counts the records that it could not write', async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 256 * 1024 });
  writeFileSync(join(disk.path, "ballast"), Buffer.alloc(80 * 1024, 1));
  const notes: string[] = [];
  const log = await openLog(disk.path, { onFailure: "continue", note: (text) => notes.push(text) });
  let written = 0;
  while (log.append(longEntry(written)) !== null) written++;
  expect([log.append(longEntry(1)), log.append(longEntry(2))]).toEqual([null, null]);
  expect(notes).toEqual(["audit log: calls continue without records: Cannot write the audit log: the disk is full"]);
  rmSync(join(disk.path, "ballast"));
  // One number more than expected: the record that reports the loss precedes this one.
  expect(log.append(callEntry(9))).toMatchObject({ seq: written + 2 });
  log.close();
  expect(recordsOf(disk.path).slice(-3)).toMatchObject([
    { kind: "lost", records: 3 },
    { kind: "call" },
    { kind: "closed" },
  ]);
  expect(notes).toHaveLength(2);
  expect(verifyLog([join(disk.path, logName)])).toMatchObject({
    isIntact: true,
    notes: [`before record ${written + 1}, 3 records could not be written while calls continued`],
  });
});

test('a disk becomes read-only: the record is refused, or lost with onFailure "continue"', async (context) => {
  using disk = await diskOr(context, "ext4", { bytes: 4096 * 1024 });
  const strict = await openLog(disk.path);
  const lenient = await openLog(disk.path, { file: join(disk.path, "other.jsonl"), onFailure: "continue" });
  await disk.remountReadOnly();
  expect(await failureOf(() => strict.append(callEntry(1)))).toEqual({
    code: "STORAGE_FAILED",
    message: "Cannot write the audit log: the disk is read-only",
  });
  expect(lenient.append(callEntry(1))).toBeNull();
  expect(await failureOf(() => strict.close())).toMatchObject({ code: "STORAGE_FAILED" });
  lenient.close();
  expect(linesOf(disk.path)).toHaveLength(1);
});
