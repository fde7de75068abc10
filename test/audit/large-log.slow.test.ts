/** Logs of any size are read in bounded memory, and a hostile one does not flood its reader. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { forgetPeakMemory, peakMemoryMib } from "../support/peak-memory.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { auditJson, callEntry, useEntry, writeChain } from "./audited.ts";
import { logName, told, verify } from "./written-log.ts";

/** Fails if it takes more than uncollected garbage. A log of 100,000 records has 70 MiB, and many times that as objects. */
async function inBoundedMemory<Result>(work: () => Promise<Result>): Promise<Result> {
  forgetPeakMemory();
  const before = peakMemoryMib();
  const result = await work();
  expect(peakMemoryMib() - before).toBeLessThan(150);
  return result;
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
  const { log } = await inBoundedMemory(() => auditJson("user-memory", "--log", file));
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

test("a line without an end is not kept in memory, and lines that are no records take no memory", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  writeChain(file, [callEntry(1), callEntry(2), callEntry(3)]);
  for (let count = 0; count < 200; count++) appendFileSync(file, Buffer.alloc(1024 * 1024, "x"));
  const torn = told(await inBoundedMemory(() => verify(file)));
  expect(torn).toEqual([expect.stringMatching(/^the file ends with 209715200 bytes/)]);
  appendFileSync(file, "\n".repeat(5_000));
  const many = await inBoundedMemory(() => verify(file));
  expect(told(many)).toEqual(["this line is not a record: it is 209715200 bytes long"]);
  expect(many).toMatchObject({ isIntact: false, records: 3, broken: { seq: null, line: 4 } });
});
