/** How a log goes on when its end was changed by a kill or by a person. */
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry } from "./audit-entries.ts";
import { headName, linesOf, logName, openLog, writeLines, writeRun } from "./log-under-test.ts";

interface Row {
  readonly name: string;
  /** Changes a log with records 0 to 5: opened, four calls, closed. `heads` are the heads after each of them. */
  readonly change: (folder: string, heads: readonly string[]) => void;
  readonly opened: { readonly tornBytes?: number; readonly missing?: number; readonly head: string };
  readonly seq: number;
  readonly told: readonly string[];
}

const edit = (folder: string, change: (lines: string[]) => string[]): void =>
  writeLines(folder, logName, change(linesOf(folder)));
const setHead = (folder: string, text = ""): void => writeFileSync(join(folder, headName), text);
const lostHead =
  "head: when record 6 was written, the log's head could not be read: it is unknown whether records were missing";

const rows: Row[] = [
  { name: "nothing", change: () => {}, opened: { head: "agrees" }, seq: 6, told: [] },
  {
    name: "the last record removed",
    change: (folder) => edit(folder, (lines) => lines.slice(0, -1)),
    opened: { head: "agrees", missing: 1 },
    seq: 6,
    told: ["removed: between records 4 and 6, one record was removed; the gap was known when record 6 was written"],
  },
  {
    name: "the last three records removed",
    change: (folder) => edit(folder, (lines) => lines.slice(0, -3)),
    opened: { head: "agrees", missing: 3 },
    seq: 6,
    told: ["removed: between records 2 and 6, 3 records were removed; the gap was known when record 6 was written"],
  },
  {
    name: "all records removed",
    change: (folder) => truncateSync(join(folder, logName), 0),
    opened: { head: "agrees", missing: 6 },
    seq: 6,
    told: [
      "removed: before record 6, 6 records were removed; the gap was known when record 6 was written; a whole file may be missing",
    ],
  },
  {
    name: "the file removed",
    change: (folder) => rmSync(join(folder, logName)),
    opened: { head: "agrees", missing: 6 },
    seq: 6,
    told: [
      "removed: before record 6, 6 records were removed; the gap was known when record 6 was written; a whole file may be missing",
    ],
  },
  {
    name: "the last record altered",
    change: (folder) =>
      edit(folder, (lines) => [...lines.slice(0, -1), (lines[5] ?? "").replace("closed", 'lost","records":1,"x":"')]),
    opened: { head: "differs" },
    seq: 6,
    told: [
      "unreadable: record 5 does not match the record format: it was altered, or another version wrote it",
      "altered: record 5 was altered: its hash differs from the one in record 6",
      "head: when record 6 was written, the log's head did not match the record that it named",
    ],
  },
  {
    name: "the last record made unreadable",
    change: (folder) => edit(folder, (lines) => [...lines.slice(0, -1), "nothing"]),
    opened: { head: "differs" },
    seq: 6,
    told: [
      "unreadable: this line is not a record: it is too short to be one",
      "head: when record 6 was written, the log's head did not match the record that it named",
    ],
  },
  {
    name: "valid records appended",
    change: (folder, heads) => {
      // As if the head had not moved since record 2.
      setHead(folder, heads[2]);
    },
    opened: { head: "behind" },
    seq: 6,
    told: [
      "head: when record 6 was written, the log's head named an earlier record: the machine had stopped, or records were added",
    ],
  },
  {
    name: "killed between the record and the head",
    change: (folder, heads) => setHead(folder, heads[4]),
    opened: { head: "agrees" },
    seq: 6,
    told: [],
  },
  {
    name: "the head removed",
    change: (folder) => rmSync(join(folder, headName)),
    opened: { head: "lost" },
    seq: 6,
    told: [lostHead],
  },
  { name: "the head emptied", change: (folder) => setHead(folder), opened: { head: "lost" }, seq: 6, told: [lostHead] },
  {
    name: "the head made unreadable",
    change: (folder) => setHead(folder, "000000000005 x"),
    opened: { head: "lost" },
    seq: 6,
    told: [lostHead],
  },
  {
    name: "the head and the last record removed",
    change: (folder) => {
      edit(folder, (lines) => lines.slice(0, -1));
      rmSync(join(folder, headName));
    },
    opened: { head: "lost" },
    seq: 5,
    told: [lostHead.replace("6", "5")],
  },
  {
    name: "killed in the middle of a record",
    change: (folder) => appendFileSync(join(folder, logName), '{"seq":6,"time'),
    opened: { head: "agrees", tornBytes: 14 },
    seq: 6,
    told: [],
  },
  {
    name: "the end of the last record cut off",
    change: (folder) => {
      const file = join(folder, logName);
      truncateSync(file, readFileSync(file).length - 1);
    },
    opened: { head: "agrees", tornBytes: 133, missing: 1 },
    seq: 6,
    told: ["removed: between records 4 and 6, one record was removed; the gap was known when record 6 was written"],
  },
  {
    name: "killed in the middle of the very first record",
    change: (folder) => {
      writeFileSync(join(folder, logName), '{"seq":0');
      setHead(folder);
    },
    opened: { head: "new", tornBytes: 8 },
    seq: 0,
    told: [],
  },
  {
    name: "killed between the very first record and its head",
    change: (folder) => {
      edit(folder, (lines) => lines.slice(0, 1));
      setHead(folder);
    },
    opened: { head: "agrees" },
    seq: 1,
    told: [],
  },
  {
    name: "all of it removed",
    change: (folder) => {
      rmSync(join(folder, logName));
      rmSync(join(folder, headName));
    },
    opened: { head: "new" },
    seq: 0,
    told: [],
  },
];

test.for(rows)("opens a log after: $name", async ({ change, opened, seq, told }) => {
  using folder = temporaryFolder();
  const heads: string[] = [];
  const keepHead = (): number => heads.push(readFileSync(join(folder.path, headName), "utf8"));
  const log = await openLog(folder.path);
  keepHead();
  for (const count of [1, 2, 3, 4]) {
    log.append(callEntry(count));
    keepHead();
  }
  log.close();
  change(folder.path, heads);
  await writeRun(folder.path, [callEntry(9)]);
  const records = recordsLoosely(folder.path);
  const found = records.findLast(({ kind }) => kind === "opened");
  expect(found).toMatchObject({ tornBytes: 0, missing: 0, ...opened, seq });
  const { findings, head } = verifyLog([join(folder.path, logName)]);
  expect(findings.map(({ kind, text }) => `${kind}: ${text}`)).toEqual(told);
  expect(head?.seq).toBe(seq + 2);
});

/** Skips lines that are not records. */
function recordsLoosely(folder: string): { kind: string }[] {
  return linesOf(folder).flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as { kind: string }] : []));
}
