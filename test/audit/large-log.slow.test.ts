/** Logs of any size are read in bounded memory. */
import { createHash } from "node:crypto";
import { appendFileSync, closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { summariseLog } from "../../host/audit/verify/summarise-log.ts";
import { verifyLog } from "../stage/audit-log.ts";
import { forgetPeakMemory, peakMemoryMib } from "../support/peak-memory.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, useEntry } from "./audit-entries.ts";
import { headName, logName } from "./log-under-test.ts";

/** Writes records in the host's form but without its checks, which are slow and not under test here. */
function writeChain(folder: string, recordsCount: number): void {
  const file = openSync(join(folder, logName), "w");
  let prev = "0".repeat(64);
  for (let seq = 0; seq < recordsCount; seq++) {
    const time = new Date(1_700_000_000_000 + seq * 60_000).toISOString();
    const entry = seq % 10 === 9 ? useEntry(seq) : { ...callEntry(seq), userId: `user-${seq}`, tool: `T${seq % 150}` };
    const line = JSON.stringify({ seq, time, prev, ...entry });
    prev = createHash("sha256").update(line).digest("hex");
    writeSync(file, `${line}\n`);
  }
  closeSync(file);
  appendFileSync(join(folder, headName), `${String(recordsCount - 1).padStart(12, "0")} ${prev}\n`);
}

/** More than uncollected garbage takes. A log of 100,000 records has 70 MiB, and many times that as objects. */
const memoryMibMax = 150;

test("100,000 records are verified and summarised in bounded memory", { timeout: 120_000 }, () => {
  using folder = temporaryFolder();
  writeChain(folder.path, 100_000);
  verifyLog([join(folder.path, logName)]);
  forgetPeakMemory();
  const before = peakMemoryMib();
  const summary = summariseLog([join(folder.path, logName)]);
  const grown = peakMemoryMib() - before;
  expect(grown).toBeLessThan(memoryMibMax);
  expect(summary).toMatchObject({
    calls: 90_000,
    users: 90_000,
    denials: 10_000,
    unfitUsesNotShown: 9_800,
    toolsNotShown: 35,
    usersNotShown: 89_500,
    callsNotShown: 86_000,
    verification: { isIntact: true, records: 100_000, head: { seq: 99_999 } },
  });
  expect(summary.tools).toHaveLength(100);
  expect(summary.callsByUser).toHaveLength(500);
  expect(summary.latestCalls).toHaveLength(4_000);
  expect(summary.timeline.buckets.length).toBeLessThanOrEqual(96);
  expect(summary.timeline.buckets.reduce((sum, { calls }) => sum + calls, 0)).toBe(90_000);
});

test("a line without an end is reported, and not kept in memory", () => {
  using folder = temporaryFolder();
  writeChain(folder.path, 3);
  const file = openSync(join(folder.path, logName), "a");
  const part = Buffer.alloc(1024 * 1024, "x");
  for (let count = 0; count < 200; count++) writeSync(file, part);
  closeSync(file);
  forgetPeakMemory();
  const before = peakMemoryMib();
  const torn = verifyLog([join(folder.path, logName)]);
  appendFileSync(join(folder.path, logName), "\n");
  const whole = verifyLog([join(folder.path, logName)]);
  expect(peakMemoryMib() - before).toBeLessThan(memoryMibMax);
  expect(torn.findings.map(({ kind }) => kind)).toEqual(["torn"]);
  expect(whole.findings.map(({ text }) => text)).toEqual(["this line is not a record: it is 209715200 bytes long"]);
});

test("bounds findings and notes, and counts those not shown", () => {
  using folder = temporaryFolder();
  writeChain(folder.path, 1);
  appendFileSync(join(folder.path, logName), "\n".repeat(5_000));
  expect(verifyLog([join(folder.path, logName)])).toMatchObject({ isIntact: false, findingsNotShown: 4_000 });
});
