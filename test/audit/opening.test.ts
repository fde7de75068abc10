/**
 * How a log goes on when its end was changed by a kill or by a person, and when a file is full. Kills at each step of a
 * rotation are in `killed-and-failing.slow.test.ts`.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { openAuditedStage, read } from "./audited-stage.ts";
import {
  foundIn,
  fullName,
  headName,
  linesOf,
  logFileNames,
  logName,
  openLog,
  recordsOf,
  smallestFile,
  told,
  verify,
  writeRun,
} from "./written-log.ts";

/** Records 0 to 5: opened, four calls, closed; and the heads after each but the last. */
const recorded = temporaryFolder();
afterAll(() => recorded[Symbol.dispose]());
const heads: string[] = [];
const first = await openLog(recorded.path);
for (let count = 0; count <= 4; count++) {
  if (count > 0) await first.call(count);
  heads.push(readFileSync(join(recorded.path, headName), "utf8"));
}
await first.runtime.close();

type Change = (folder: string) => void;
type Edit = (text: string) => string;

const file =
  (name: string, edit: Edit): Change =>
  (folder) =>
    writeFileSync(join(folder, name), edit(readFileSync(join(folder, name), "utf8")));
const log = (edit: Edit): Change => file(logName, edit);
const head = (text = ""): Change => file(headName, () => text);
/** Without some records, counted from an end. */
const lines =
  (from: number, to?: number): Edit =>
  (text) =>
    text
      .split(/(?<=\n)/)
      .slice(from, to)
      .join("");
const both =
  (...changes: Change[]): Change =>
  (folder) =>
    changes.forEach((change) => change(folder));
const gone =
  (...names: string[]): Change =>
  (folder) =>
    names.forEach((name) => rmSync(join(folder, name)));

const torn = Buffer.byteLength(linesOf(recorded.path)[5] ?? "");

/** What was changed, what the next `opened` record says, and what a verification finds afterwards. */
const rows: readonly (readonly [name: string, change: Change, opened: object, ...found: string[]])[] = [
  ["nothing", () => {}, { head: "agrees" }],
  ["the last record removed", log(lines(0, -1)), { missing: 1 }, "removed 6"],
  ["the file removed", gone(logName), { missing: 6 }, "removed 6"],
  [
    "the last record altered",
    log((text) => text.replace("closed", 'lost","records":1,"x":"')),
    { head: "differs" },
    "unreadable 5",
    "altered 5",
    "head 6",
  ],
  [
    "the last record made unreadable",
    log((text) => `${lines(0, -1)(text)}nothing\n`),
    { head: "differs" },
    "unreadable",
    "head 6",
  ],
  ["valid records appended", head(heads[2]), { head: "behind" }, "head 6"],
  ["a kill between the record and the head", head(heads[4]), { head: "agrees" }],
  ["the head removed", gone(headName), { head: "lost" }, "head 6"],
  ["the last record and the head", both(log(lines(0, -1)), head()), { head: "lost", seq: 5 }, "head 5"],
  ["a kill in the middle of a record", log((text) => `${text}{"seq":6,"time`), { tornBytes: 14 }],
  ["the end of the last record cut off", log((text) => text.trimEnd()), { tornBytes: torn, missing: 1 }, "removed 6"],
  [
    "a kill in the very first record",
    both(
      log(() => '{"seq":0'),
      head(),
    ),
    { head: "new", tornBytes: 8, seq: 0 },
  ],
  ["a kill before the very first head", both(log(lines(0, 1)), head()), { seq: 1 }],
];

test.for(rows)("opens a log after %s", async ([, change, expected, ...found]) => {
  using folder = temporaryFolder();
  cpSync(recorded.path, folder.path, { recursive: true });
  change(folder.path);
  await writeRun(folder.path, [9]);
  // Lines that are no records stay.
  const opened = linesOf(folder.path).findLast((line) => line.includes('"kind":"opened"')) ?? "";
  const all = { tornBytes: 0, missing: 0, head: "agrees", seq: 6, ...expected };
  expect(JSON.parse(opened)).toMatchObject(all);
  const result = await verify(join(folder.path, logName));
  expect(foundIn(result)).toEqual(found);
  expect(result.head?.seq).toBe(all.seq + 2);
});

test("a record larger than a file gets its own file", async () => {
  using folder = temporaryFolder();
  const auditLog = { file: join(folder.path, logName), fileBytesMax: smallestFile };
  const stage = await openAuditedStage({ auditLog });
  const steps = Array.from({ length: 400 }, (_, at) => read("a".repeat(190) + at));
  for (const _ of [1, 2]) await stage.runtime.call("Puppet", steps, { userId: "alice" });
  await stage[Symbol.asyncDispose]();
  expect(logFileNames(folder.path).map((name) => linesOf(folder.path, name).length)).toEqual([1, 1, 1, 1]);
  expect(told(await verify(auditLog.file))).toEqual([]);
});

test("overwrites nothing: a file with the next full file's name stops the log", async () => {
  using folder = temporaryFolder();
  const writing = await openLog(folder.path, { fileBytesMax: smallestFile });
  writeFileSync(join(folder.path, fullName(0)), "mine");
  let written = 0;
  while ((await writing.longCall(written)) === "ok") written++;
  expect(await writing.longCall(written)).toBe("STORAGE_FAILED");
  expect(writing.notes.join()).toContain("Cannot write the audit log: the name for its full file is taken");
  expect(readFileSync(join(folder.path, fullName(0)), "utf8")).toBe("mine");
  rmSync(join(folder.path, fullName(0)));
  expect(await writing.longCall(written)).toBe("ok");
  await writing.runtime.close();
  expect(recordsOf(folder.path)).toHaveLength(written + 3);
  expect(told(await verify(join(folder.path, logName)))).toEqual([]);
});
