/** Where a log can be, and which options are valid. */
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry } from "./audit-entries.ts";
import { failureOf } from "./failure-of.ts";
import { headName, kindsOf, logName, openLog, writeRun } from "./log-under-test.ts";

interface Place {
  readonly name: string;
  readonly prepare: (folder: string) => void;
  readonly file?: string;
  readonly says: string;
}

const places: Place[] = [
  {
    name: "a folder",
    prepare: (folder) => mkdirSync(join(folder, logName)),
    says: "it is not a regular file",
  },
  {
    name: "a FIFO",
    prepare: (folder) => execFileSync("mkfifo", [join(folder, logName)]),
    says: "it is not a regular file",
  },
  {
    name: "a link",
    prepare: (folder) => {
      writeFileSync(join(folder, "target"), "");
      symlinkSync("target", join(folder, logName));
    },
    says: "a link is in its place",
  },
  {
    name: "a broken link",
    prepare: (folder) => symlinkSync("nowhere", join(folder, logName)),
    says: "a link is in its place",
  },
  {
    name: "a file with two names",
    prepare: (folder) => {
      writeFileSync(join(folder, "other"), "");
      linkSync(join(folder, "other"), join(folder, logName));
    },
    says: "it has 2 names on the disk, only 1 is allowed",
  },
  { name: "a device", prepare: () => {}, file: "/dev/full", says: "it is not a regular file" },
  {
    name: "a link in the head's place",
    prepare: (folder) => symlinkSync("nowhere", join(folder, headName)),
    says: "a link is in its place",
  },
  {
    name: "a large file in the head's place",
    prepare: (folder) => writeFileSync(join(folder, headName), "x".repeat(5000)),
    says: "it is 5000 bytes, at most 4096 allowed",
  },
  {
    name: "a file among the users'",
    prepare: () => {},
    file: "data/users/alice/memory/audit.jsonl",
    says: "it would lie among the users' files",
  },
  {
    name: "the users' folder",
    prepare: () => {},
    file: "data/users",
    says: "it would lie among the users' files",
  },
  {
    name: "a file among the users', spelt in another way",
    prepare: (folder) => {
      mkdirSync(join(folder, "data/users"), { recursive: true });
      symlinkSync("data/users", join(folder, "log"));
    },
    file: "log/new/audit.jsonl",
    says: "it would lie among the users' files",
  },
  {
    name: "a file in a file's place",
    prepare: (folder) => writeFileSync(join(folder, "log"), ""),
    file: "log/audit.jsonl",
    says: "something else is in a folder's place",
  },
];

test.for(places)("refuses to open a log in the place of $name", async ({ prepare, file = logName, says }) => {
  using folder = temporaryFolder();
  prepare(folder.path);
  const before = readdirSync(folder.path, { recursive: true });
  const path = file.startsWith("/") ? file : join(folder.path, file);
  const { code, message } = await failureOf(() => openLog(folder.path, { file: path }));
  expect(code).toBe("STORAGE_UNSAFE");
  expect(message).toContain(`Cannot open the audit log: `);
  expect(message).toContain(says);
  expect(message).not.toContain(folder.path);
  expect(readdirSync(folder.path, { recursive: true })).toEqual(before);
  expect(existsSync("/dev/full.head")).toBe(false);
  expect(openDescriptors(folder.path)).toEqual([]);
});

test("a log and the folders above it are accessible to their owner only", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "a/b/audit.jsonl");
  await writeRun(folder.path, [], { file });
  const modes = ["a", "a/b", "a/b/audit.jsonl", "a/b/audit.jsonl.head"].map(
    (name) => statSync(join(folder.path, name)).mode,
  );
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600]);
});

test("a log can be in the data folder", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "data/audit.jsonl");
  await writeRun(folder.path, [callEntry(1)], { file });
  expect(verifyLog([file]).isIntact).toBe(true);
});

test("a closed log refuses records, and closing it again is harmless", async () => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path);
  log.close();
  log.close();
  expect(openDescriptors(folder.path)).toEqual([]);
  expect(await failureOf(() => log.append(callEntry(1)))).toMatchObject({ code: "CLOSED" });
  expect(kindsOf(folder.path)).toEqual(["opened", "closed"]);
});

test.for([
  [{ file: "" }, TypeError, "the audit log needs a file"],
  [{ file: "log/" }, TypeError, "the audit log's file must be a file's path, without NUL"],
  [{ file: "a\0b" }, TypeError, "the audit log's file must be a file's path, without NUL"],
  [{ file: "audit.jsonl.head" }, TypeError, "must not end in .head or .<12 digits>.jsonl"],
  [{ file: "audit.jsonl.000000000000.jsonl" }, TypeError, "must not end in .head or .<12 digits>.jsonl"],
  [{ fileBytesMax: 0 }, RangeError, "fileBytesMax is 0, allowed: a whole number from 65536"],
  [{ fileBytesMax: 65_535 }, RangeError, "allowed: a whole number from 65536"],
  [{ fileBytesMax: 70_000.5 }, RangeError, "allowed: a whole number from 65536"],
  [{ onFailure: "ignore" as never }, RangeError, 'onFailure is ignore, allowed: "refuse", "continue"'],
] as const)("refuses invalid options: %o", async ([options, kind, message]) => {
  using folder = temporaryFolder();
  const opening = openLog(folder.path, options);
  await expect(opening).rejects.toThrow(kind);
  await expect(opening).rejects.toThrow(message);
  expect(readdirSync(folder.path)).toEqual([]);
});
