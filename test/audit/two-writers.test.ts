/** Only one runtime at a time writes a log. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWriting } from "./log-processes.ts";
import { kindsOf, logName, openLog, told, verify, writeRun } from "./written-log.ts";

const workIn = (folder: string, more: { waitMs?: number; holds?: boolean } = {}) => ({
  folder,
  file: join(folder, logName),
  waitMs: 1,
  holds: false,
  ...more,
});

test("refuses another process that opens the log", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path);
  using other = await startWriting(workIn(folder.path));
  other.go();
  expect((await other.ended).told).toEqual(["no open BUSY"]);
  await log.call(1);
  await log.runtime.close();
  expect(kindsOf(folder.path)).toEqual(["opened", "call", "closed"]);
});

test("refuses another runtime of the same process and says for how long the log has been in use", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path);
  await expect(openLog(folder.path, { waitMs: 50 })).rejects.toThrow(
    /^Cannot open the audit log: another runtime writes it, such as a server, .* for \d+ ms; stop that one, or name another log file$/,
  );
  await log.runtime.close();
  await writeRun(folder.path, []);
});

test("another process waits until the log is closed, also during rotation", async () => {
  using folder = temporaryFolder();
  using first = await startWriting(workIn(folder.path, { waitMs: 60_000 }));
  using second = await startWriting(workIn(folder.path, { waitMs: 60_000 }));
  const log = await openLog(folder.path);
  first.go();
  second.go();
  await log.call(1);
  await log.runtime.close();
  const all = ["ok open", "ok 1", "ok 2", "ok 3", "ok 4", "ok close"];
  expect((await first.ended).told).toEqual(all);
  expect((await second.ended).told).toEqual(all);
  const run = ["opened", "call", "call", "call", "call", "closed"];
  expect(kindsOf(folder.path)).toEqual(["opened", "call", "closed", ...run, ...run]);
  expect(await verify(join(folder.path, logName))).toMatchObject({ isIntact: true, records: 15 });
});

test("a killed writer's log is free again, and can be verified before that", async () => {
  using folder = temporaryFolder();
  using other = await startWriting(workIn(folder.path, { holds: true }));
  other.go();
  await other.until("ok 4");
  expect(await verify(join(folder.path, logName))).toMatchObject({ isIntact: true, records: 5, notes: [] });
  await expect(openLog(folder.path)).rejects.toMatchObject({ code: "BUSY" });
  other.kill();
  await other.ended;
  await writeRun(folder.path, []);
  expect(kindsOf(folder.path)).toEqual(["opened", "call", "call", "call", "call", "opened", "closed"]);
  expect(told(await verify(join(folder.path, logName)))).toEqual([]);
});
