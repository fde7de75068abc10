/** Each kind of change to a log, at each place, is found by `memcell audit verify` and told in a reviewer's words. */
import { appendFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { runs } from "../stage/random-runs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ask, openAuditedStage, upsert } from "./audited-stage.ts";
import {
  fullName,
  hashOf,
  headName,
  linesOf,
  logFileNames,
  logName,
  longLabels,
  recordsOf,
  smallestFile,
  told,
  verify,
  writeLines,
} from "./written-log.ts";

/** A log in four files. Records 0 to 8 are of every kind. Behind them come 36 of 6 KB, and the end. */
const recorded = temporaryFolder();
afterAll(() => recorded[Symbol.dispose]());
{
  const auditLog = { file: join(recorded.path, logName), fileBytesMax: smallestFile };
  await using stage = await openAuditedStage({ auditLog });
  const { runtime } = stage;
  const [alice, labels] = [{ userId: "alice" }, { a: "b" }];
  await runtime.call("UpdateUserMemory", upsert("a"), { ...alice, origin: { class: "direct_user", run: "r" } });
  await runtime.call("Puppet", [ask("store_read", { scope: "other", path: "../b" })], { userId: "bob", labels });
  runtime.refused({ surface: "http", reason: "token-expired", peer: "192.0.2.1" });
  await runtime.memoryIndex(alice);
  await runtime.upkeep.listTrash(alice);
  await runtime.call("Nothing", {}, alice);
  for (let at = 0; at < 36; at++) await runtime.call("Nothing", {}, { userId: "carol", labels: longLabels });
}

const [first = "", second = "", third = "", ...others] = logFileNames(recorded.path);
const recordedLines = {
  first: linesOf(recorded.path, first),
  second: linesOf(recorded.path, second),
  last: linesOf(recorded.path),
};
const seqOf = (line = ""): number => (JSON.parse(line) as { seq: number }).seq;
const [b, c] = [seqOf(recordedLines.second[0]), seqOf(linesOf(recorded.path, third)[0])];
const [lastFirst, last] = [seqOf(recordedLines.last[0]), seqOf(recordedLines.last.at(-1))];

function copyOfLog(): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder();
  cpSync(recorded.path, folder.path, { recursive: true });
  return folder;
}

test("moves a full file away and goes on with the chain in the next", async () => {
  expect([first, second, third, ...others]).toEqual([fullName(0), fullName(b), fullName(c), logName]);
  for (const name of [first, second, third]) {
    const { size, mode } = statSync(join(recorded.path, name));
    expect(size).toBeLessThanOrEqual(smallestFile);
    expect(size).toBeGreaterThan(smallestFile / 2);
    expect(mode & 0o777).toBe(0o600);
  }
  const records = recordsOf(recorded.path);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, at) => at));
  const kinds = ["opened", "staged", "call", "use", "refused", "upkeep", "closed"];
  expect(new Set(records.map(({ kind }) => kind))).toEqual(new Set(kinds));
  const whole = { isIntact: true, isEndKnown: true, files: 4, records: last + 1, firstSeq: 0, notes: [] };
  expect(await verify(join(recorded.path, logName))).toMatchObject({ ...whole, head: { seq: last } });
});

type Change = (folder: string) => void;
type Edit = (lines: string[]) => string[];

const edited =
  (name: string) =>
  (edit: Edit): Change =>
  (folder) =>
    writeLines(folder, name, edit(linesOf(folder, name)));
const [inFirst, inSecond, inLast] = [edited(first), edited(second), edited(logName)];
const at = (lines: readonly string[], index: number): string => lines.at(index) ?? "";
const rewritten =
  (index: number, old: RegExp, text: string): Edit =>
  (lines) =>
    lines.with(index, at(lines, index).replace(old, text));
const altered = (index: number): Edit => rewritten(index, /"time":"2/, '"time":"3');
const gone =
  (name: string): Change =>
  (folder) =>
    rmSync(join(folder, name));
/** The first record of one file goes to the end of another. */
const carried =
  (from: string, to: string): Change =>
  (folder) => {
    const [line = "", ...rest] = linesOf(folder, from);
    writeLines(folder, from, rest);
    edited(to)((lines) => [...lines, line])(folder);
  };
/** A forged record that fits after the given one. */
const forged = (line: string): string => {
  const { labels: _, ...record } = JSON.parse(line) as { seq: number; labels?: object };
  return JSON.stringify({ ...record, seq: record.seq + 1, prev: hashOf(line) });
};

/** The head that names a record. */
const headOf = (line: string): string => `${String(seqOf(line)).padStart(12, "0")} ${hashOf(line)}\n`;

const end = at(recordedLines.last, -1);
const bad = "nothing ".repeat(20);

/** The first broken link: the record, where it is, and what it means. */
type Broken = readonly [seq: number | null, file: string | null, line: number | null, text: string];
const inB = (offset: number, text: string, seq: number | null = b + offset, line = offset + 1): Broken => [
  seq,
  second,
  line,
  text,
];
const between = (from: number, to: number): string => `between records ${from} and ${to}, `;
const moved = "it was moved here, or added";
const altered1 = (seq: number): string =>
  `record ${seq} was altered, or record ${seq + 1} was, which has another hash of it`;
const notJson = "this line is not a record: it is not JSON";
const [lastName, lastLine] = [logName, recordedLines.last.length];
const ends = (text: string, before = 0): Broken => [last - before, lastName, lastLine - before, text];
const added = (count: number): string =>
  `the last ${count} records come after the log's head: the machine stopped, or they were added`;
const hasHead = (seq: number): string => `but the log's head names record ${seq}: records were removed from the end`;

/** Changes, mostly of the second file, whose records are `b` to `c - 1`, and where each has broken the log. */
const rows: readonly (readonly [name: string, change: Change, broken?: Broken])[] = [
  ["nothing", () => {}],
  [
    "the first removed",
    inFirst((all) => all.toSpliced(0, 1)),
    [1, first, 1, "before record 1, one record was removed; a whole file may be missing"],
  ],
  [
    "one removed",
    inSecond((all) => all.toSpliced(4, 1)),
    inB(4, `${between(b + 3, b + 5)}one record was removed`, b + 5),
  ],
  [
    "three removed",
    inSecond((all) => all.toSpliced(4, 3)),
    inB(4, `${between(b + 3, b + 7)}3 records were removed`, b + 7),
  ],
  [
    "the last removed",
    inLast((all) => all.toSpliced(-1, 1)),
    ends(`the log ends with record ${last - 1}, ${hasHead(last)}`, 1),
  ],
  [
    "all removed",
    (folder) => logFileNames(folder).forEach((name) => writeLines(folder, name, [])),
    [null, null, null, `the log is empty, ${hasHead(last)}`],
  ],
  ["one altered", inSecond(altered(4)), inB(4, altered1(b + 4))],
  ["two neighbours altered", inSecond((all) => altered(5)(altered(4)(all))), inB(4, altered1(b + 4))],
  [
    "the last altered",
    inLast(altered(-1)),
    ends(`record ${last} was altered: its hash differs from the one in the log's head`),
  ],
  [
    "two neighbours swapped",
    inSecond((all) => all.toSpliced(4, 2, at(all, 5), at(all, 4))),
    inB(4, `record ${b + 5} comes before record ${b + 4}: ${moved}`, b + 5),
  ],
  [
    "two moved forward",
    inSecond((all) => all.toSpliced(6, 2).toSpliced(3, 0, ...all.slice(6, 8))),
    inB(3, `record ${b + 6} comes before record ${b + 3}: ${moved}`, b + 6),
  ],
  [
    "one repeated at once",
    inSecond((all) => all.toSpliced(4, 0, at(all, 4))),
    inB(5, `record ${b + 4} is repeated here`, b + 4),
  ],
  [
    "one repeated later",
    inSecond((all) => all.toSpliced(6, 0, at(all, 4))),
    inB(6, `record ${b + 4} comes after record ${b + 5}: it was moved here, repeated or added`, b + 4),
  ],
  [
    "a forged one that fits the one before it",
    inSecond((all) => all.toSpliced(5, 0, forged(at(all, 4)))),
    inB(6, `a second record ${b + 5} is here: one of the two was added`, b + 5),
  ],
  ["a forged one in the place of another", inSecond((all) => all.with(5, forged(at(all, 4)))), inB(5, altered1(b + 5))],
  // A kill between a record and its head leaves the same.
  ["a forged one behind the end", inLast((all) => [...all, forged(end)])],
  ["two forged ones behind the end", inLast((all) => [...all, forged(end), forged(forged(end))]), ends(added(2), -2)],
  [
    "an invented number",
    inSecond((all) => all.toSpliced(5, 0, at(all, 5).replace(/\d+/, "500000"))),
    inB(5, `record 500000 comes before record ${b + 5}: ${moved}`, 500_000),
  ],
  [
    "an altered number",
    inSecond(rewritten(5, /\d+/, "500000")),
    inB(5, `record 500000 comes before record ${b + 6}: ${moved}`, 500_000),
  ],
  ["an altered hash", inSecond(rewritten(5, /"prev":"\w+/, `"prev":"${"0".repeat(64)}`)), inB(4, altered1(b + 4))],
  [
    "an altered hash in the very first",
    inFirst(rewritten(0, /"prev":"\w+/, `"prev":"${"1".repeat(64)}`)),
    [0, first, 1, "record 0 was altered: it has the hash of a record before it"],
  ],
  ["one key twice", inSecond(rewritten(5, /}$/, ',"code":null}')), inB(5, altered1(b + 5))],
  [
    "one key more",
    inSecond(rewritten(5, /}$/, ',"body":"x"}')),
    inB(5, `record ${b + 5} does not match the record format: it was altered, or another version wrote it`),
  ],
  ["a line that is not JSON", inSecond((all) => all.with(5, bad)), inB(5, notJson, null)],
  ["one for two", inSecond((all) => all.toSpliced(5, 2, bad)), inB(5, notJson, null)],
  ["an empty line", inSecond((all) => all.toSpliced(5, 0, "")), inB(5, "this line is not a record: it is empty", null)],
  [
    "no record",
    inSecond((all) => all.toSpliced(5, 0, '{"seq":-1}'.padEnd(80))),
    inB(5, "this line is not a record: it is too short to be one", null),
  ],
  [
    "no place in the chain",
    inSecond((all) => all.toSpliced(5, 0, '{"seq":-1}'.padEnd(100))),
    inB(5, "this line is not a record: it has no place in the chain", null),
  ],
  [
    "the first file gone",
    gone(first),
    inB(0, `before record ${b}, ${b} records were removed; a whole file may be missing`),
  ],
  [
    "a file in the middle gone",
    gone(second),
    [c, third, 1, `${between(b - 1, c)}${c - b} records were removed; a whole file may be missing`],
  ],
  [
    "the last file gone",
    gone(logName),
    [lastFirst - 1, third, lastFirst - c, `the log ends with record ${lastFirst - 1}, ${hasHead(last)}`],
  ],
  // The boundaries between files carry no information, and neither do their names.
  ["a record moved into the file before", carried(third, second)],
  [
    "a record moved behind the next file",
    carried(second, third),
    inB(0, `record ${b + 1} comes before record ${b}: ${moved}`, b + 1),
  ],
  ["a file under another name", (folder) => renameSync(join(folder, second), join(folder, fullName(99)))],
  [
    "a file repeated under another name",
    (folder) => cpSync(join(folder, second), join(folder, fullName(99))),
    [b, fullName(99), 1, `record ${b} comes after record ${c - 1}: it was moved here, repeated or added`],
  ],
  [
    "a torn end in a full file",
    (folder) => appendFileSync(join(folder, second), "torn"),
    inB(c - b, "the file ends with 4 bytes of a record: it was cut, not finished, or is just being written", null),
  ],
  ["the head gone", gone(headName), ends("the log has no head: records at its end may be missing")],
  ["the head no head", (folder) => writeFileSync(join(folder, headName), "1"), ends("the log's head cannot be read")],
  [
    "the head of an earlier record",
    (folder) => writeFileSync(join(folder, headName), headOf(at(recordedLines.last, -4))),
    ends(added(3)),
  ],
  ["a folder beside it", (folder) => mkdirSync(join(folder, `${logName}.old`))],
];

test.for(rows)("finds %s", async ([, change, expected]) => {
  using folder = copyOfLog();
  change(folder.path);
  const { broken, isIntact } = await verify(join(folder.path, logName));
  expect(broken && [broken.seq, broken.file, broken.line, broken.text]).toEqual(expected ?? null);
  expect(isIntact).toBe(expected === undefined);
});

test("counts and sums up what comes after the first broken link, and tells only that one", async () => {
  using folder = copyOfLog();
  inFirst((all) => all.toSpliced(1, 1))(folder.path);
  inLast(altered(-1))(folder.path);
  const { broken, records, head } = await verify(join(folder.path, logName));
  expect(broken).toEqual({ seq: 2, file: first, line: 2, text: `${between(0, 2)}one record was removed` });
  expect([records, head?.seq]).toEqual([last, last]);
});

test.for<readonly [name: string, change: Change, files: readonly string[], args: readonly string[], text?: string]>([
  ["the first file is elsewhere", gone(first), [logName], ["--partial"]],
  [
    "a file in the middle is gone",
    gone(second),
    [logName],
    ["--partial"],
    `${between(b - 1, c)}${c - b} records were removed; a whole file may be missing`,
  ],
  [
    "the very first record was altered",
    inFirst(rewritten(0, /"prev":"\w+/, `"prev":"${"1".repeat(64)}`)),
    [logName],
    ["--partial"],
    "record 0 was altered: it has the hash of a record before it",
  ],
  ["only a full file is given", () => {}, [second], ["--partial"]],
  [
    "only a full file is given, as if it were the whole log",
    () => {},
    [second],
    [],
    `before record ${b}, ${b} records were removed; a whole file may be missing`,
  ],
  [
    "only the first full file is given, as if it were the whole log",
    () => {},
    [first],
    [],
    "the log has no head: records at its end may be missing",
  ],
  ["the files are given in another order", () => {}, [logName, third, first, second], []],
])("verifies a log of which %s", async ([, change, files, args, text]) => {
  using folder = copyOfLog();
  change(folder.path);
  const paths = files.map((name) => join(folder.path, name));
  expect(told(await verify(paths, ...args))).toEqual(text === undefined ? [] : [text]);
});

/** Uniform over the file. By default, fast-check prefers values near the beginning. */
const part = fc.noBias(fc.nat(999_999)).map((millionths) => millionths / 1_000_000);
const bytesOrSpace = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 20 }),
  fc.constantFrom(Buffer.from("\n"), Buffer.from(" ")),
);
const spliced = (bytes: Buffer, from: number, to: number, more: Uint8Array = Buffer.of()): Buffer =>
  Buffer.concat([bytes.subarray(0, from), more, bytes.subarray(to)]);

const randomEdit = fc.oneof(
  fc.tuple(part, fc.nat(7)).map(([place, bit]) => (bytes: Buffer) => {
    const from = Math.floor(place * bytes.length);
    return spliced(bytes, from, from + 1, Buffer.of((bytes[from] ?? 0) ^ (1 << bit)));
  }),
  fc.tuple(part, fc.integer({ min: 0, max: 2000 }), bytesOrSpace).map(([place, count, more]) => (bytes: Buffer) => {
    const from = Math.floor(place * bytes.length);
    return spliced(bytes, from, from + count, count % 2 === 0 ? more : Buffer.of());
  }),
  part.map((place) => (bytes: Buffer) => bytes.subarray(0, Math.floor(place * bytes.length))),
  fc.tuple(part, part, fc.boolean()).map(([from, to, isMoved]) => (bytes: Buffer) => {
    const lines = bytes.toString("latin1").trimEnd().split("\n");
    const [taken, target] = [Math.floor(from * lines.length), Math.floor(to * lines.length)];
    const left = isMoved ? lines.toSpliced(taken, 1) : lines;
    return Buffer.from(`${left.toSpliced(target, 0, lines[taken] ?? "").join("\n")}\n`, "latin1");
  }),
);

test("finds any random edit of a file that changes it", { timeout: 600_000 }, () => {
  using folder = copyOfLog();
  const file = join(folder.path, first);
  const whole = readFileSync(file);
  const { numRuns, ...options } = runs(300);
  let changes = 0;
  fc.assert(
    fc.property(randomEdit, (edit) => {
      const bytes = edit(whole);
      if (bytes.equals(whole)) return;
      changes++;
      writeFileSync(file, bytes);
      const { isIntact, broken } = verifyLog([join(folder.path, logName)]);
      expect([isIntact, broken !== null]).toEqual([false, true]);
    }),
    { numRuns, ...options },
  );
  expect(changes).toBeGreaterThan(numRuns / 2);
});
