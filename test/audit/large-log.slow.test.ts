/** Logs of any size are read in bounded memory, and a hostile one does not flood its reader. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { forgetPeakMemory, peakMemoryMib } from "../support/peak-memory.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { auditJson, callEntry, useEntry, writeChain } from "./audited.ts";
import { logName, told, verify } from "./written-log.ts";

/** More than uncollected garbage takes. A log of 100,000 records has 70 MiB, and many times that as objects. */
const memoryMibMax = 150;

async function grownBy(work: () => Promise<unknown>): Promise<number> {
  forgetPeakMemory();
  const before = peakMemoryMib();
  await work();
  return peakMemoryMib() - before;
}

function* manyRecords(): Generator<ReturnType<typeof callEntry | typeof useEntry>> {
  for (let at = 0; at < 100_000; at++) {
    if (at % 10 === 9) yield useEntry(at);
    else yield callEntry(at, { userId: `user-${at}`, tool: `T${at % 150}` });
  }
}

test("100,000 records are verified and summarised in bounded memory", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  writeChain(file, manyRecords());
  // What the command loads once is not under test.
  await auditJson("user-memory", "--log", file);
  let log: object = {};
  expect(await grownBy(async () => (log = (await auditJson("user-memory", "--log", file)).log))).toBeLessThan(
    memoryMibMax,
  );
  expect(log).toMatchObject({
    calls: 90_000,
    users: 90_000,
    denials: 10_000,
    unfitUsesNotShown: 9_800,
    toolsNotShown: 35,
    usersNotShown: 89_500,
    callsNotShown: 86_000,
    verification: { isIntact: true, records: 100_000, head: { seq: 99_999 } },
  });
});

test("a line without an end is reported, and not kept in memory", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  writeChain(file, [callEntry(1), callEntry(2), callEntry(3)]);
  for (let count = 0; count < 200; count++) appendFileSync(file, Buffer.alloc(1024 * 1024, "x"));
  const found: string[] = [];
  const grown = await grownBy(async () => {
    found.push(...told(await verify(file)));
    appendFileSync(file, "\n");
    found.push(...told(await verify(file)));
  });
  expect(grown).toBeLessThan(memoryMibMax);
  expect(found).toEqual([
    expect.stringMatching(/^torn: the file ends with 209715200 bytes/),
    "unreadable: this line is not a record: it is 209715200 bytes long",
  ]);
});

test("bounds findings and notes, and counts those not shown", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  writeChain(file, [callEntry(1)]);
  appendFileSync(file, "\n".repeat(5_000));
  expect(await verify(file)).toMatchObject({ isIntact: false, findingsNotShown: 4_000 });
  expect((await memcell(["audit", "verify", file])).stdout).toContain("4000 more findings are not shown");
});
