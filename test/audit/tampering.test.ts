/** Each kind of change to a log, at each place, is found and reported in a reviewer's words. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { hashOf } from "../../host/audit/log/record-line.ts";
import type { LogVerification } from "../../host/audit/verify/findings.ts";
import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, stagedEntry, useEntry } from "./audit-entries.ts";
import { linesOf, logName, writeLines, writeRun } from "./log-under-test.ts";

/** Records 0 to 9 in one file: opened, eight entries, closed. */
async function tenRecords(folder: string): Promise<void> {
  await writeRun(folder, [
    callEntry(1),
    useEntry(2),
    stagedEntry(3),
    callEntry(4),
    callEntry(5),
    callEntry(6),
    callEntry(7),
    callEntry(8),
  ]);
}

const verify = (folder: string): LogVerification => verifyLog([join(folder, logName)]);
const told = (folder: string): string[] => verify(folder).findings.map(({ kind, text }) => `${kind}: ${text}`);

type Edit = (lines: string[]) => string[];
const at = (lines: readonly string[], index: number): string => lines[index] ?? "";
const without =
  (from: number, count = 1): Edit =>
  (lines) =>
    lines.toSpliced(from, count);
const replaced =
  (index: number, change: (line: string) => string): Edit =>
  (lines) =>
    lines.with(index, change(at(lines, index)));
const altered = (index: number): Edit => replaced(index, (line) => line.replace(/"time":"2/, '"time":"3'));
/** A forged record that fits after the one at `index`. */
const forged = (lines: readonly string[], index: number): string => {
  const record = JSON.parse(at(lines, index)) as { seq: number };
  const prev = hashOf(Buffer.from(at(lines, index)));
  return JSON.stringify({ seq: record.seq + 1, time: "2026-01-01T00:00:00.000Z", prev, ...useEntry(99) });
};
const isAltered = (seq: number, by: string): string =>
  `altered: record ${seq} was altered: its hash differs from the one in ${by}`;

const notJson = "nothing ".repeat(20);

interface Row {
  readonly name: string;
  readonly edit: Edit;
  readonly told: readonly string[];
}

const rows: Row[] = [
  { name: "nothing", edit: (lines) => lines, told: [] },
  { name: "the first removed", edit: without(0), told: ["removed: before record 1, one record was removed"] },
  {
    name: "one in the middle removed",
    edit: without(4),
    told: ["removed: between records 3 and 5, one record was removed"],
  },
  {
    name: "three in the middle removed",
    edit: without(4, 3),
    told: ["removed: between records 3 and 7, 3 records were removed"],
  },
  {
    name: "two at two places removed",
    edit: (lines) => without(6)(without(2)(lines)),
    told: [
      "removed: between records 1 and 3, one record was removed",
      "removed: between records 6 and 8, one record was removed",
    ],
  },
  {
    name: "the last removed",
    edit: without(9),
    told: ["removed: the log ends with record 8, but the log's head names record 9: records were removed from the end"],
  },
  {
    name: "all removed",
    edit: () => [],
    told: ["removed: the log is empty, but the log's head names record 9: records were removed from the end"],
  },
  { name: "the first altered", edit: altered(0), told: [isAltered(0, "record 1")] },
  { name: "one in the middle altered", edit: altered(4), told: [isAltered(4, "record 5")] },
  {
    name: "two neighbours altered",
    edit: (lines) => altered(5)(altered(4)(lines)),
    told: [isAltered(4, "record 5"), isAltered(5, "record 6")].with(
      0,
      "altered: record 4 may be altered: record 5, which carries its hash, was altered",
    ),
  },
  { name: "the last altered", edit: altered(9), told: [isAltered(9, "the log's head")] },
  {
    name: "two neighbours swapped",
    edit: (lines) => lines.with(4, at(lines, 5)).with(5, at(lines, 4)),
    told: ["displaced: record 4 comes after record 5: it was moved here, or added"],
  },
  {
    name: "the first two swapped",
    edit: (lines) => lines.with(0, at(lines, 1)).with(1, at(lines, 0)),
    told: ["displaced: record 0 comes after record 1: it was moved here, or added"],
  },
  {
    name: "the last two swapped",
    edit: (lines) => lines.with(8, at(lines, 9)).with(9, at(lines, 8)),
    told: ["displaced: record 8 comes after record 9: it was moved here, or added"],
  },
  {
    name: "one moved back by three",
    edit: (lines) => lines.toSpliced(3, 1).toSpliced(6, 0, at(lines, 3)),
    told: ["displaced: record 3 comes after record 6: it was moved here, or added"],
  },
  {
    name: "one moved forward by three",
    edit: (lines) => lines.toSpliced(6, 1).toSpliced(3, 0, at(lines, 6)),
    told: ["displaced: record 6 comes before record 3: it was moved here, or added"],
  },
  {
    name: "two moved forward together",
    edit: (lines) => lines.toSpliced(6, 2).toSpliced(3, 0, at(lines, 6), at(lines, 7)),
    told: ["displaced: records 6 to 7 come before record 3: they were moved here, or added"],
  },
  {
    name: "one repeated at once",
    edit: (lines) => lines.toSpliced(4, 0, at(lines, 4)),
    told: ["displaced: record 4 is repeated here"],
  },
  {
    name: "the first repeated at the end",
    edit: (lines) => [...lines, at(lines, 0)],
    told: ["displaced: record 0 is repeated here"],
  },
  {
    name: "the last repeated",
    edit: (lines) => [...lines, at(lines, 9)],
    told: ["displaced: record 9 is repeated here"],
  },
  {
    name: "a forged one that fits the one before it",
    edit: (lines) => lines.toSpliced(5, 0, forged(lines, 4)),
    told: ["displaced: record 5 comes before record 5: it was moved here, or added"],
  },
  {
    name: "a forged one in the place of another",
    edit: (lines) => lines.with(5, forged(lines, 4)),
    told: [isAltered(5, "record 6")],
  },
  {
    name: "a forged one behind the end",
    edit: (lines) => [...lines, forged(lines, 9)],
    told: [],
  },
  {
    name: "two forged ones behind the end",
    edit: (lines) => {
      const longer = [...lines, forged(lines, 9)];
      return [...longer, forged(longer, 10)];
    },
    told: ["head: the last 2 records come after the log's head: the machine stopped, or they were added"],
  },
  {
    name: "one with an invented number",
    edit: (lines) => lines.toSpliced(5, 0, at(lines, 5).replace('"seq":5', '"seq":500000')),
    told: ["displaced: record 500000 comes before record 5: it was moved here, or added"],
  },
  {
    name: "one whose number is altered",
    edit: replaced(5, (line) => line.replace('"seq":5', '"seq":500000')),
    told: [
      "displaced: record 500000 comes before record 6: it was moved here, or added",
      "removed: between records 4 and 6, one record was removed",
    ],
  },
  {
    name: "one whose hash of the one before is altered",
    edit: replaced(5, (line) => line.replace(/(?<="prev":")./, (digit) => (digit === "0" ? "1" : "0"))),
    told: ["altered: record 4 may be altered: record 5, which carries its hash, was altered", isAltered(5, "record 6")],
  },
  {
    name: "an empty line",
    edit: (lines) => lines.toSpliced(5, 0, ""),
    told: ["unreadable: this line is not a record: it is empty"],
  },
  {
    name: "a short line",
    edit: (lines) => lines.toSpliced(5, 0, "{}"),
    told: ["unreadable: this line is not a record: it is too short to be one"],
  },
  {
    name: "a line that is not JSON in the place of a record",
    edit: (lines) => lines.with(5, notJson),
    told: ["unreadable: this line is not a record: it is not JSON"],
  },
  {
    name: "a line that is not JSON in the place of two",
    edit: (lines) => lines.with(5, notJson).toSpliced(6, 1),
    told: [
      "unreadable: this line is not a record: it is not JSON",
      "removed: between records 4 and 7, one record was removed",
    ],
  },
  {
    name: "JSON that is not a record",
    edit: (lines) => lines.toSpliced(5, 0, '{"seq":-1}'.padEnd(100)),
    told: ["unreadable: this line is not a record: it has no place in the chain"],
  },
  {
    name: "a record with the text of a body",
    edit: replaced(9, (line) => line.replace(/}$/, ',"body":"text"}')),
    told: [
      "unreadable: record 9 does not match the record format: it was altered, or another version wrote it",
      isAltered(9, "the log's head"),
    ],
  },
  {
    name: "one key twice",
    edit: replaced(5, (line) => line.replace(/}$/, ',"code":null}')),
    told: [isAltered(5, "record 6")],
  },
];

test.for(rows)("$name", async ({ edit, told: expected }) => {
  using folder = temporaryFolder();
  await tenRecords(folder.path);
  writeLines(folder.path, logName, edit(linesOf(folder.path)));
  expect(told(folder.path)).toEqual(expected);
  expect(verify(folder.path).isIntact).toBe(expected.length === 0);
});
