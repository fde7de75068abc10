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

/** The record, its place in the log's file, and what its link says. */
type Broken = readonly [seq: number | null, line: number, text: string];
const removedBefore6 = "; the gap was known when record 6 was written";
const opened6 = "when record 6 was written, the log's head ";

/** What was changed, what the next `opened` record says, and where a verification then finds the log broken. */
const rows: readonly (readonly [name: string, change: Change, opened: object, broken?: Broken])[] = [
  ["nothing", () => {}, { head: "agrees" }],
  [
    "the last record removed",
    log(lines(0, -1)),
    { missing: 1 },
    [6, 6, `between records 4 and 6, one record was removed${removedBefore6}`],
  ],
  [
    "the file removed",
    gone(logName),
    { missing: 6 },
    [6, 1, `before record 6, 6 records were removed${removedBefore6}; a whole file may be missing`],
  ],
  [
    "the last record altered",
    log((text) => text.replace("closed", 'lost","records":1,"x":"')),
    { head: "differs" },
    [5, 6, "record 5 does not match the record format: it was altered, or another version wrote it"],
  ],
  [
    "the last record altered in its form",
    log((text) => text.replace(/"time":"2(?!.*"time":)/s, '"time":"3')),
    { head: "differs" },
    [5, 6, "record 5 was altered, or record 6 was, which has another hash of it"],
  ],
  [
    "the last record made unreadable",
    log((text) => `${lines(0, -1)(text)}nothing\n`),
    { head: "differs" },
    [null, 6, "this line is not a record: it is too short to be one"],
  ],
  [
    "valid records appended",
    head(heads[2]),
    { head: "behind" },
    [6, 7, `${opened6}named an earlier record: the machine had stopped, or records were added`],
  ],
  [
    "a head that names another record",
    head(heads[2]?.replace(/.{9}\n/, "00000000f\n")),
    { head: "differs" },
    [6, 7, `${opened6}did not match the record that it named`],
  ],
  ["a kill between the record and the head", head(heads[4]), { head: "agrees" }],
  [
    "the head removed",
    gone(headName),
    { head: "lost" },
    [6, 7, `${opened6}could not be read: it is unknown whether records were missing`],
  ],
  [
    "the last record and the head",
    both(log(lines(0, -1)), head()),
    { head: "lost", seq: 5 },
    [5, 6, "when record 5 was written, the log's head could not be read: it is unknown whether records were missing"],
  ],
  ["a kill in the middle of a record", log((text) => `${text}{"seq":6,"time`), { tornBytes: 14 }],
  [
    "the end of the last record cut off",
    log((text) => text.trimEnd()),
    { tornBytes: torn, missing: 1 },
    [6, 6, `between records 4 and 6, one record was removed${removedBefore6}`],
  ],
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

test.for(rows)("opens a log after %s", async ([, change, expected, broken]) => {
  using folder = temporaryFolder();
  cpSync(recorded.path, folder.path, { recursive: true });
  change(folder.path);
  await writeRun(folder.path, [9]);
  // Lines that are no records stay.
  const opened = linesOf(folder.path).findLast((line) => line.includes('"kind":"opened"')) ?? "";
  const all = { tornBytes: 0, missing: 0, head: "agrees", seq: 6, ...expected };
  expect(JSON.parse(opened)).toMatchObject(all);
  const result = await verify(join(folder.path, logName));
  const [seq, line, text] = broken ?? [];
  expect(result.broken).toEqual(broken === undefined ? null : { seq, line, text, file: logName });
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
