/** A log of several files: how one follows the other, and what is reported when one was changed. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import type { VerifyOptions } from "../stage/audit-log.ts";
import { ToolError } from "../stage/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, longEntry } from "./audit-entries.ts";
import {
  headName,
  kindsOf,
  linesOf,
  logFileNames,
  logName,
  openLog,
  recordsOf,
  smallestFile,
  writeLines,
  writeSeveralFiles,
} from "./log-under-test.ts";

const file = (seq: number): string => `${logName}.${String(seq).padStart(12, "0")}.jsonl`;
/** The files of `writeSeveralFiles`: records 0 to 3, 4 to 6, 7 to 9, 10 to 13. */
const [first, second, third] = [file(0), file(4), file(7)] as const;

test("moves a full file away and goes on with the chain in the next", async () => {
  using folder = temporaryFolder();
  await writeSeveralFiles(folder.path);
  expect(logFileNames(folder.path)).toEqual([first, second, third, logName]);
  for (const name of logFileNames(folder.path)) {
    const { size, mode } = statSync(join(folder.path, name));
    expect(size).toBeLessThanOrEqual(smallestFile);
    expect(size).toBeGreaterThan(smallestFile / 2);
    expect(mode & 0o777).toBe(0o600);
  }
  expect(recordsOf(folder.path).map(({ seq }) => seq)).toEqual(Array.from({ length: 14 }, (_, at) => at));
  expect(verifyLog([join(folder.path, logName)])).toMatchObject({
    isIntact: true,
    isEndKnown: true,
    files: 4,
    records: 14,
    firstSeq: 0,
    head: { seq: 13 },
    notes: [],
  });
});

test("a record larger than a file gets its own file", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path, { fileBytesMax: smallestFile });
  const writes = Array.from({ length: 400 }, (_, at) => ({ scope: "memory", path: "a".repeat(200), bytes: at }));
  log.append(callEntry(1, { writes }));
  log.append(callEntry(2, { writes }));
  log.close();
  expect(logFileNames(folder.path).map((name) => linesOf(folder.path, name).length)).toEqual([1, 1, 1, 1]);
  expect(verifyLog([join(folder.path, logName)]).findings).toEqual([]);
});

test("overwrites nothing: a file with the next rotated file's name stops the log", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, first), "mine");
  const log = await openLog(folder.path, { fileBytesMax: smallestFile });
  for (const count of [1, 2, 3]) log.append(longEntry(count));
  const before = readdirSync(folder.path);
  expect(() => log.append(longEntry(4))).toThrow(
    new ToolError("STORAGE_UNSAFE", "Cannot write the audit log: the name for its full file is taken"),
  );
  expect(readdirSync(folder.path)).toEqual(before);
  rmSync(join(folder.path, first));
  log.append(longEntry(4));
  log.close();
  expect(verifyLog([join(folder.path, logName)]).findings).toEqual([]);
});

const edited = (name: string, change: (lines: string[]) => string[]) => (folder: string) =>
  writeLines(folder, name, change(linesOf(folder, name)));
const removed = (name: string) => (folder: string) => rmSync(join(folder, name));

interface Row {
  readonly name: string;
  readonly change: (folder: string) => void;
  readonly files?: readonly string[];
  readonly options?: VerifyOptions;
  readonly told: readonly string[];
}

const rows: Row[] = [
  {
    name: "the first file is missing",
    change: removed(first),
    told: ["removed: before record 4, 4 records were removed; a whole file may be missing"],
  },
  { name: "the first file is elsewhere", change: removed(first), options: { isPartial: true }, told: [] },
  {
    name: "a file in the middle is missing",
    change: removed(second),
    told: ["removed: between records 3 and 7, 3 records were removed; a whole file may be missing"],
  },
  {
    name: "a file in the middle is missing, and the log is declared incomplete",
    change: removed(second),
    options: { isPartial: true },
    told: ["removed: between records 3 and 7, 3 records were removed; a whole file may be missing"],
  },
  {
    name: "the last file is missing",
    change: removed(logName),
    told: [
      "removed: the log ends with record 9, but the log's head names record 13: records were removed from the end",
    ],
  },
  {
    name: "the last record of a full file removed",
    change: edited(second, (lines) => lines.slice(0, -1)),
    told: ["removed: between records 5 and 7, one record was removed"],
  },
  {
    name: "the first record of a file removed",
    change: edited(third, (lines) => lines.slice(1)),
    told: ["removed: between records 6 and 8, one record was removed"],
  },
  {
    name: "the last record of a full file altered",
    change: edited(second, (lines) => [...lines.slice(0, -1), (lines.at(-1) ?? "").replace('"time":"2', '"time":"3')]),
    told: ["altered: record 6 was altered: its hash differs from the one in record 7"],
  },
  {
    name: "the first record of a file altered",
    change: edited(third, (lines) => lines.with(0, (lines[0] ?? "").replace('"time":"2', '"time":"3'))),
    told: ["altered: record 7 was altered: its hash differs from the one in record 8"],
  },
  {
    name: "a record moved into the file before",
    change: (folder) => {
      const [moved = "", ...rest] = linesOf(folder, third);
      writeLines(folder, third, rest);
      edited(second, (lines) => [...lines, moved])(folder);
    },
    // The chain is intact: file boundaries carry no information.
    told: [],
  },
  {
    name: "a record moved out of the file into the one behind the next",
    change: (folder) => {
      const [moved = "", ...rest] = linesOf(folder, second);
      writeLines(folder, second, rest);
      edited(third, (lines) => [...lines, moved])(folder);
    },
    told: ["displaced: record 4 comes after record 9: it was moved here, or added"],
  },
  {
    name: "a file repeated under another name",
    change: (folder) => cpSync(join(folder, second), join(folder, file(99))),
    told: [4, 5, 6].map((seq) => `displaced: record ${seq} is repeated here`),
  },
  {
    name: "two files in each other's place",
    change: (folder) => {
      renameSync(join(folder, second), join(folder, "kept"));
      renameSync(join(folder, third), join(folder, second));
      renameSync(join(folder, "kept"), join(folder, third));
    },
    // Files are read in the order of their records, whatever their names.
    told: [],
  },
  {
    name: "a torn end in a full file",
    change: (folder) => writeFileSync(join(folder, second), "torn", { flag: "a" }),
    told: ["torn: the file ends with 4 bytes of a record: it was cut, not finished, or is just being written"],
  },
  {
    name: "the head is missing",
    change: removed(headName),
    told: ["head: the log has no head: records at its end may be missing"],
  },
  { name: "the head is elsewhere", change: removed(headName), options: { isPartial: true }, told: [] },
  {
    name: "only a full file is given",
    change: () => {},
    files: [second],
    options: { isPartial: true },
    told: [],
  },
  {
    name: "only a full file is given, as if it were the whole log",
    change: () => {},
    files: [second],
    told: [
      "removed: before record 4, 4 records were removed; a whole file may be missing",
      "head: the log has no head: records at its end may be missing",
    ],
  },
  {
    name: "the files are given one by one, in another order",
    change: () => {},
    files: [logName, third, first, second],
    told: [],
  },
  { name: "a file is given twice", change: () => {}, files: [logName, third, third], told: [] },
  {
    name: "other files are next to it",
    change: (folder) => {
      mkdirSync(join(folder, `${logName}.old`));
      writeFileSync(join(folder, `${logName}.12.jsonl`), "nothing");
      writeFileSync(join(folder, `other.${basename(first)}`), "nothing");
    },
    told: [],
  },
];

test.for(rows)("$name", async ({ change, files = [logName], options = {}, told }) => {
  using folder = temporaryFolder();
  await writeSeveralFiles(folder.path);
  change(folder.path);
  const result = verifyLog(
    files.map((name) => join(folder.path, name)),
    options,
  );
  expect(result.findings.map(({ kind, text }) => `${kind}: ${text}`)).toEqual(told);
});

test("a missing log cannot be verified, and a reopened log goes on with the next number", async () => {
  using folder = temporaryFolder();
  expect(() => verifyLog([join(folder.path, logName)])).toThrow(
    new ToolError("STORAGE_FAILED", "Cannot read the audit log: there is no such file"),
  );
  await writeSeveralFiles(folder.path);
  await writeSeveralFiles(folder.path);
  expect(kindsOf(folder.path).filter((kind) => kind !== "call")).toEqual(["opened", "closed", "opened", "closed"]);
  expect(existsSync(join(folder.path, file(10)))).toBe(true);
  expect(verifyLog([join(folder.path, logName)])).toMatchObject({ isIntact: true, records: 28 });
});
