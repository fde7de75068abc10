/** Only one runtime at a time writes a log. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWriting } from "./log-processes.ts";
import { kindsOf, logName, openLog, told, verify, writeRun } from "./written-log.ts";

const writing = (folder: string, more: { waitMs?: number; holds?: boolean } = {}) =>
  startWriting({ folder, file: join(folder, logName), waitMs: 1, holds: false, ...more });

test("refuses another runtime, of this process or another, and says for how long the log has been in use", async () => {
  using folder = temporaryFolder();
  using other = await writing(folder.path);
  const log = await openLog(folder.path);
  other.go();
  expect((await other.ended).told).toEqual(["no open BUSY"]);
  await expect(openLog(folder.path, { waitMs: 50 })).rejects.toThrow(
    /^Cannot open the audit log: another runtime writes it, such as a server, .* for \d+ ms; stop that one, or name another log file$/,
  );
  await log.call(1);
  await log.runtime.close();
  await writeRun(folder.path, []);
  expect(kindsOf(folder.path)).toEqual(["opened", "call", "closed", "opened", "closed"]);
});

test("other processes wait until the log is closed, also during rotation; a killed one's log is free again", async () => {
  using folder = temporaryFolder();
  using first = await writing(folder.path, { waitMs: 60_000 });
  using second = await writing(folder.path, { waitMs: 60_000, holds: true });
  const log = await openLog(folder.path);
  first.go();
  await log.call(1);
  await log.runtime.close();
  const all = ["ok open", "ok 1", "ok 2", "ok 3", "ok 4", "ok close"];
  expect((await first.ended).told).toEqual(all);
  second.go();
  await second.until("ok 4");
  // While it is written, the log can be verified.
  const file = join(folder.path, logName);
  expect(await verify(file)).toMatchObject({ isIntact: true, records: 14, notes: [] });
  await expect(openLog(folder.path, { waitMs: 1 })).rejects.toMatchObject({ code: "BUSY" });
  second.kill();
  expect((await second.ended).told).toEqual(all.slice(0, -1));
  await writeRun(folder.path, []);
  const run = ["opened", "call", "call", "call", "call"];
  expect(kindsOf(folder.path)).toEqual(["opened", "call", "closed", ...run, "closed", ...run, "opened", "closed"]);
  expect(told(await verify(file))).toEqual([]);
});
