/** Where a log can be, which options it has, and that nothing is written to one that was moved or changed meanwhile. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { openDescriptors } from "../support/open-descriptors.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { headName, kindsOf, logName, openLog, recordsOf, verify, writeRun } from "./written-log.ts";

/** A change of a folder, by the path of a name in it. */
type Change = (at: (name?: string) => string) => void;
const pathsIn =
  (folder: string) =>
  (name = ""): string =>
    join(folder, name);

const notRegular = "it is not a regular file";
const linked = "a link is in its place";
const twoNames = "it has 2 names on the disk, only 1 is allowed";
const amongUsers = "it would lie among the users' files";

test.for<readonly [name: string, file: string, prepare: Change, says: string]>([
  ["a folder", logName, (at) => fs.mkdirSync(at(logName)), notRegular],
  ["a FIFO", logName, (at) => execFileSync("mkfifo", [at(logName)]), notRegular],
  ["a link", logName, (at) => (fs.writeFileSync(at("a"), ""), fs.symlinkSync("a", at(logName))), linked],
  [
    "a file with two names",
    logName,
    (at) => (fs.writeFileSync(at("a"), ""), fs.linkSync(at("a"), at(logName))),
    twoNames,
  ],
  ["a link for its head", logName, (at) => fs.symlinkSync("nowhere", at(headName)), linked],
  [
    "a large head",
    logName,
    (at) => fs.writeFileSync(at(headName), "x".repeat(5000)),
    "its head is 5000 bytes; expected at most 4096",
  ],
  [
    "a user's file, spelt in another way",
    "log/new/audit.jsonl",
    (at) => (fs.mkdirSync(at("data/users"), { recursive: true }), fs.symlinkSync("data/users", at("log"))),
    amongUsers,
  ],
  [
    "a file for its folder",
    "log/audit.jsonl",
    (at) => fs.writeFileSync(at("log"), ""),
    "something else is in a folder's place",
  ],
])("refuses to open a log in the place of %s", async ([, file, prepare, says]) => {
  using folder = temporaryFolder();
  prepare(pathsIn(folder.path));
  const before = fs.readdirSync(folder.path, { recursive: true });
  const opening = openLog(folder.path, { file: join(folder.path, file) });
  const message = expect.stringMatching(`^Cannot open the audit log: .*${says}`) as string;
  await expect(opening).rejects.toMatchObject({ code: "STORAGE_UNSAFE", message });
  await expect(opening).rejects.not.toThrow(folder.path);
  expect(fs.readdirSync(folder.path, { recursive: true })).toEqual(before);
  expect(openDescriptors(folder.path)).toEqual([]);
});

test("a log can be in the data folder, and it and the folders above it are accessible to their owner only", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "data/a/audit.jsonl");
  await writeRun(folder.path, [1], { file });
  const modes = ["data/a", "data/a/audit.jsonl", "data/a/audit.jsonl.head"].map(
    (name) => fs.statSync(join(folder.path, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600]);
  expect((await verify(file)).isIntact).toBe(true);
  expect(openDescriptors(folder.path)).toEqual([]);
});

test.for<readonly [options: object, kind: typeof Error, message: string]>([
  [{ file: "" }, TypeError, "the audit log needs a file"],
  [{ file: "log/" }, TypeError, "the audit log's file must be a file's path, without NUL"],
  [{ file: "audit.jsonl.head" }, TypeError, "must not end in .head or .<12 digits>.jsonl"],
  [{ file: "audit.jsonl.000000000000.jsonl" }, TypeError, "must not end in .head or .<12 digits>.jsonl"],
  [{ fileBytesMax: 65_535 }, RangeError, "fileBytesMax is 65535, allowed: a whole number from 65536"],
  [{ onFailure: "ignore" }, RangeError, 'onFailure is ignore, allowed: "refuse", "continue"'],
  [{ auditLog: null }, TypeError, "auditLog: the options are"],
  [{ plugins: [["journal"]] }, TypeError, "plugins[0] is neither a file nor a name"],
])("refuses invalid options: %o", async ([options, kind, message]) => {
  using folder = temporaryFolder();
  const opening = openLog(folder.path, options);
  await expect(opening).rejects.toThrow(kind);
  await expect(opening).rejects.toThrow(message);
  expect(fs.readdirSync(folder.path)).toEqual([]);
});

test("a later change of the working directory or the options does not affect a runtime being created", async () => {
  using folder = temporaryFolder();
  using elsewhere = temporaryFolder();
  const before = process.cwd();
  const auditLog = { file: "log/audit.jsonl" };
  const plugins = ["mine.wasm"];
  fs.copyFileSync(shippedPlugin("user-memory"), join(folder.path, "mine.wasm"));
  fs.writeFileSync(join(folder.path, "policy.json"), JSON.stringify(policyFor([join(folder.path, "mine.wasm")])));
  try {
    process.chdir(folder.path);
    const opening = createRuntime({ dataDir: "data", auditLog, plugins, policy: "policy.json" });
    process.chdir(elsewhere.path);
    auditLog.file = "other.jsonl";
    plugins[0] = "other.wasm";
    await using runtime = await opening;
    expect(await runtime.callAsHost("ListEntries", {}, { userId: "alice" })).toMatchObject({ ok: true });
  } finally {
    process.chdir(before);
  }
  expect(fs.readdirSync(elsewhere.path)).toEqual([]);
  expect(kindsOf(join(folder.path, "log"))).toEqual(["opened", "call", "closed"]);
});

const moved = (path: string): void => fs.renameSync(path, `${path}.1`);

test.for<readonly [name: string, change: Change, says: string]>([
  ["its file is moved away", (at) => moved(at(logName)), "its file is not where it was"],
  [
    "another file is put in its place",
    (at) => (moved(at(logName)), fs.copyFileSync(`${at(logName)}.1`, at(logName))),
    "its file is not where it was",
  ],
  ["it is emptied", (at) => fs.truncateSync(at(logName)), "its file is 0 bytes; expected [1-9]"],
  ["somebody else writes to it", (at) => fs.appendFileSync(at(logName), "x"), "bytes; expected "],
  ["its head is moved away", (at) => moved(at(headName)), "its head is not where it was"],
  [
    "its folder is moved away",
    (at) => (moved(at()), fs.cpSync(`${at()}.1`, at(), { recursive: true })),
    "its folder is not where it was",
  ],
])("writes nothing while %s, and goes on afterwards", async ([, change, says]) => {
  using folder = temporaryFolder();
  const at = pathsIn(join(folder.path, "log"));
  const log = await openLog(folder.path, { file: at(logName) });
  expect(await log.call(1)).toBe("ok");
  const kept = fs.readFileSync(at(logName));
  change(at);
  const contents = (): string[][] => fs.readdirSync(at()).map((name) => [name, fs.readFileSync(at(name), "utf8")]);
  const before = contents();
  expect(await log.call(2)).toBe("STORAGE_FAILED");
  expect(log.notes.join("\n")).toMatch(new RegExp(`Cannot write the audit log: .*${says}`));
  expect(contents()).toEqual(before);
  if (fs.existsSync(`${at()}.1`)) fs.rmSync(at(), { recursive: true });
  for (const name of ["", logName, headName])
    if (fs.existsSync(`${at(name)}.1`)) fs.renameSync(`${at(name)}.1`, at(name));
  fs.writeFileSync(at(logName), kept);
  expect(await log.call(3)).toBe("ok");
  await log.runtime.close();
  const ids = recordsOf(at()).flatMap((record) => ("callId" in record ? [record.callId] : []));
  expect(ids).toEqual(["call-1", "call-3"]);
  expect((await verify(at(logName))).isIntact).toBe(true);
});

test("records lost until the end are told to the operator, because no record can tell, and the runtime closes", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path, { onFailure: "continue" });
  moved(join(folder.path, logName));
  expect([await log.call(1), await log.call(2)]).toEqual(["ok", "ok"]);
  await log.runtime.close();
  expect(log.notes).toEqual([
    "audit log: calls continue without records: Cannot write the audit log: its file is not where it was",
    "audit log: 3 records were lost, and no record says so",
  ]);
});
