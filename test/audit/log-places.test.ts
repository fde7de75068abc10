/** Where a log can be, which options it has, and that nothing is written to one that was moved or changed meanwhile. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
} from "node:fs";
import { statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import { expect, test } from "vitest";

import { openDescriptors } from "../support/open-descriptors.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { headName, kindsOf, logName, openLog, recordsOf, verify, writeRun } from "./written-log.ts";

type Change = (folder: string) => void;

const notRegular = "it is not a regular file";
const linked = "a link is in its place";
const amongUsers = "it would lie among the users' files";

const places: readonly (readonly [name: string, file: string, prepare: Change, says: string])[] = [
  ["a folder", logName, (folder) => mkdirSync(join(folder, logName)), notRegular],
  ["a FIFO", logName, (folder) => execFileSync("mkfifo", [join(folder, logName)]), notRegular],
  [
    "a link",
    logName,
    (folder) => (writeFileSync(join(folder, "a"), ""), symlinkSync("a", join(folder, logName))),
    linked,
  ],
  ["a broken link", logName, (folder) => symlinkSync("nowhere", join(folder, logName)), linked],
  [
    "a file with two names",
    logName,
    (folder) => (writeFileSync(join(folder, "a"), ""), linkSync(join(folder, "a"), join(folder, logName))),
    "it has 2 names on the disk, only 1 is allowed",
  ],
  ["a device", "/dev/full", () => {}, notRegular],
  ["a link for its head", logName, (folder) => symlinkSync("nowhere", join(folder, headName)), linked],
  [
    "a large head",
    logName,
    (folder) => writeFileSync(join(folder, headName), "x".repeat(5000)),
    "it is 5000 bytes, at most 4096 allowed",
  ],
  ["a user's file", "data/users/alice/memory/audit.jsonl", () => {}, amongUsers],
  ["the users' folder", "data/users", () => {}, amongUsers],
  [
    "a user's file, spelt in another way",
    "log/new/audit.jsonl",
    (folder) => (
      mkdirSync(join(folder, "data/users"), { recursive: true }),
      symlinkSync("data/users", join(folder, "log"))
    ),
    amongUsers,
  ],
  [
    "a file for its folder",
    "log/audit.jsonl",
    (folder) => writeFileSync(join(folder, "log"), ""),
    "something else is in a folder's place",
  ],
];

test.for(places)("refuses to open a log in the place of %s", async ([, file, prepare, says]) => {
  using folder = temporaryFolder();
  prepare(folder.path);
  const before = readdirSync(folder.path, { recursive: true });
  const opening = openLog(folder.path, { file: file.startsWith("/") ? file : join(folder.path, file) });
  const message = expect.stringMatching(`^Cannot open the audit log: .*${says}`) as string;
  await expect(opening).rejects.toMatchObject({ code: "STORAGE_UNSAFE", message });
  await expect(opening).rejects.not.toThrow(folder.path);
  expect(readdirSync(folder.path, { recursive: true })).toEqual(before);
  expect(existsSync("/dev/full.head")).toBe(false);
  expect(openDescriptors(folder.path)).toEqual([]);
});

test("a log can be in the data folder, and it and the folders above it are accessible to their owner only", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "data/a/audit.jsonl");
  await writeRun(folder.path, [1], { file });
  const modes = ["data/a", "data/a/audit.jsonl", "data/a/audit.jsonl.head"].map(
    (name) => statSync(join(folder.path, name)).mode,
  );
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600, 0o600]);
  expect((await verify(file)).isIntact).toBe(true);
  expect(openDescriptors(folder.path)).toEqual([]);
});

test.for<readonly [options: object, kind: typeof Error, message: string]>([
  [{ file: "" }, TypeError, "the audit log needs a file"],
  [{ file: "log/" }, TypeError, "the audit log's file must be a file's path, without NUL"],
  [{ file: "a\0b" }, TypeError, "the audit log's file must be a file's path, without NUL"],
  [{ file: "audit.jsonl.head" }, TypeError, "must not end in .head or .<12 digits>.jsonl"],
  [{ file: "audit.jsonl.000000000000.jsonl" }, TypeError, "must not end in .head or .<12 digits>.jsonl"],
  [{ fileBytesMax: 0 }, RangeError, "fileBytesMax is 0, allowed: a whole number from 65536"],
  [{ fileBytesMax: 65_535 }, RangeError, "allowed: a whole number from 65536"],
  [{ fileBytesMax: 70_000.5 }, RangeError, "allowed: a whole number from 65536"],
  [{ onFailure: "ignore" }, RangeError, 'onFailure is ignore, allowed: "refuse", "continue"'],
  ...[null, false, "", 0].map((auditLog) => [{ auditLog }, TypeError, "auditLog: the options are"] as const),
  ...[null, 0, ["journal"]].map(
    (each) => [{ plugins: [each] }, TypeError, "plugins[0] is neither a file nor a name"] as const,
  ),
])("refuses invalid options: %o", async ([options, kind, message]) => {
  using folder = temporaryFolder();
  const opening = openLog(folder.path, options);
  await expect(opening).rejects.toThrow(kind);
  await expect(opening).rejects.toThrow(message);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a later change of the working directory or the options does not affect a runtime being created", async () => {
  using folder = temporaryFolder();
  using elsewhere = temporaryFolder();
  const before = process.cwd();
  const auditLog = { file: "log/audit.jsonl" };
  const plugins = ["mine.wasm"];
  copyFileSync(shippedPlugin("user-memory"), join(folder.path, "mine.wasm"));
  writeFileSync(join(folder.path, "policy.json"), JSON.stringify(policyFor([join(folder.path, "mine.wasm")])));
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
  expect(readdirSync(elsewhere.path)).toEqual([]);
  expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(["log", "mine.wasm", "policy.json"]));
  expect(kindsOf(join(folder.path, "log"))).toEqual(["opened", "call", "closed"]);
});

const away = (folder: string, name: string): void => renameSync(join(folder, name), join(folder, `${name}.1`));

const changes: readonly (readonly [name: string, change: Change, says: string])[] = [
  ["its file is moved away", (folder) => away(folder, logName), "its file is not where it was"],
  [
    "another file is put in its place",
    (folder) => (away(folder, logName), copyFileSync(join(folder, `${logName}.1`), join(folder, logName))),
    "its file is not where it was",
  ],
  ["it is emptied", (folder) => truncateSync(join(folder, logName)), "its file is 0 bytes, "],
  ["somebody else writes to it", (folder) => appendFileSync(join(folder, logName), "x"), "bytes, "],
  ["its head is moved away", (folder) => away(folder, headName), "its head is not where it was"],
  [
    "its folder is moved away",
    (folder) => (renameSync(folder, `${folder}.1`), cpSync(`${folder}.1`, folder, { recursive: true })),
    "its folder is not where it was",
  ],
];

test.for(changes)("writes nothing while %s, and goes on afterwards", async ([, change, says]) => {
  using folder = temporaryFolder();
  const inside = join(folder.path, "log");
  const file = join(inside, logName);
  const log = await openLog(folder.path, { file });
  expect(await log.call(1)).toBe("ok");
  const kept = readFileSync(file);
  change(inside);
  const before = readdirSync(inside).map((name) => [name, readFileSync(join(inside, name), "utf8")]);
  expect(await log.call(2)).toBe("STORAGE_FAILED");
  expect(log.notes.join("\n")).toMatch(new RegExp(`Cannot write the audit log: .*${says}`));
  expect(readdirSync(inside).map((name) => [name, readFileSync(join(inside, name), "utf8")])).toEqual(before);
  if (existsSync(`${inside}.1`)) {
    renameSync(inside, `${inside}.2`);
    renameSync(`${inside}.1`, inside);
  }
  for (const name of [logName, headName])
    if (existsSync(join(inside, `${name}.1`))) renameSync(join(inside, `${name}.1`), join(inside, name));
  writeFileSync(file, kept);
  expect(await log.call(3)).toBe("ok");
  await log.runtime.close();
  expect(recordsOf(inside).flatMap((record) => ("callId" in record ? [record.callId] : []))).toEqual([
    "call-1",
    "call-3",
  ]);
  expect((await verify(file)).isIntact).toBe(true);
});

test("records lost until the end are told to the operator, because no record can tell, and the runtime closes", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path, { onFailure: "continue" });
  away(folder.path, logName);
  expect([await log.call(1), await log.call(2)]).toEqual(["ok", "ok"]);
  await log.runtime.close();
  expect(log.notes).toEqual([
    "audit log: calls continue without records: Cannot write the audit log: its file is not where it was",
    "audit log: 3 records were lost, and no record says so",
  ]);
});
