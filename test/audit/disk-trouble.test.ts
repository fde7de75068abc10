/** Places where no log may lie, disks that refuse, and logs that are moved away while they are written. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { AuditLog } from "../../host/audit/audit-log.ts";
import { verifyLog } from "../../host/audit/verify-log.ts";
import { ToolError } from "../../host/tool-error.ts";
import { diskOr } from "../crash/small-disk-store.ts";
import { openDescriptors } from "../support/open-descriptors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, longEntry } from "./audit-entries.ts";
import { headName, kindsOf, linesOf, logName, openLog, recordsOf, smallestFile, writeRun } from "./log-under-test.ts";

const isIntact = (folder: string): boolean => verifyLog([join(folder, logName)]).isIntact;

async function failureOf(work: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ToolError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: "ok", message: "" };
}

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
    name: "a link that leads nowhere",
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
    says: "something else lies in a folder's place",
  },
];

test.for(places)("a log is not opened in the place of $name", async ({ prepare, file = logName, says }) => {
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

test("a log and the folders above it are their owner's alone", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "a/b/audit.jsonl");
  await writeRun(folder.path, [], { file });
  const modes = ["a", "a/b", "a/b/audit.jsonl", "a/b/audit.jsonl.head"].map(
    (name) => statSync(join(folder.path, name)).mode,
  );
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600]);
});

test("a log may lie in the data folder", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "data/audit.jsonl");
  await writeRun(folder.path, [callEntry(1)], { file });
  expect(verifyLog([file]).isIntact).toBe(true);
});

interface Removal {
  readonly name: string;
  readonly change: (folder: string) => void;
  readonly restore: (folder: string) => void;
  readonly says: string;
}

const away = (folder: string, name: string): void => renameSync(join(folder, name), join(folder, `${name}.1`));
const back = (folder: string, name: string): void => renameSync(join(folder, `${name}.1`), join(folder, name));

const removals: Removal[] = [
  {
    name: "the log is moved away",
    change: (folder) => away(folder, logName),
    restore: (folder) => back(folder, logName),
    says: "its file is not where it was",
  },
  {
    name: "another file is put in the log's place",
    change: (folder) => {
      away(folder, logName);
      copyFileSync(join(folder, `${logName}.1`), join(folder, logName));
    },
    restore: (folder) => back(folder, logName),
    says: "its file is not where it was",
  },
  {
    name: "the log is emptied",
    change: (folder) => {
      copyFileSync(join(folder, logName), join(folder, "kept"));
      truncateSync(join(folder, logName), 0);
    },
    restore: (folder) => writeFileSync(join(folder, logName), readFileSync(join(folder, "kept"))),
    says: "its file is 0 bytes, ",
  },
  {
    name: "somebody else writes to the log",
    change: (folder) => appendFileSync(join(folder, logName), "x"),
    restore: (folder) => truncateSync(join(folder, logName), statSync(join(folder, logName)).size - 1),
    says: "bytes, ",
  },
  {
    name: "the head is moved away",
    change: (folder) => away(folder, headName),
    restore: (folder) => back(folder, headName),
    says: "its head is not where it was",
  },
];

test.for(removals)(
  "nothing is written while $name, and the log goes on afterwards",
  async ({ change, restore, says }) => {
    using folder = temporaryFolder();
    const log = await openLog(folder.path);
    log.append(callEntry(1));
    change(folder.path);
    const before = readdirSync(folder.path).map((name) => [name, readFileSync(join(folder.path, name), "utf8")]);
    const { code, message } = await failureOf(() => log.append(callEntry(2)));
    expect([code, message]).toEqual(["STORAGE_UNSAFE", expect.stringContaining(says)]);
    expect(readdirSync(folder.path).map((name) => [name, readFileSync(join(folder.path, name), "utf8")])).toEqual(
      before,
    );
    restore(folder.path);
    log.append(callEntry(3));
    log.close();
    expect(kindsOf(folder.path)).toEqual(["opened", "call", "call", "closed"]);
    expect(isIntact(folder.path)).toBe(true);
  },
);

test("nothing is written while the log's folder is moved away", async () => {
  using folder = temporaryFolder();
  const inside = join(folder.path, "log");
  const log = await openLog(folder.path, { file: join(inside, logName) });
  renameSync(inside, `${inside}.1`);
  mkdirSync(inside);
  expect(await failureOf(() => log.append(callEntry(1)))).toEqual({
    code: "STORAGE_UNSAFE",
    message: "Cannot write the audit log: its folder is not where it was",
  });
  expect(readdirSync(inside)).toEqual([]);
  expect(await failureOf(() => log.close())).toMatchObject({ code: "STORAGE_UNSAFE" });
});

/** Appends until the disk refuses; returns how many were written. */
async function fillUp(log: AuditLog): Promise<number> {
  for (let count = 1; ; count++) {
    const { code } = await failureOf(() => log.append(longEntry(count)));
    if (code === "STORAGE_FULL") return count - 1;
    expect(code).toBe("ok");
  }
}

test.for([
  { kind: "tmpfs", bytes: 256 * 1024 },
  { kind: "ext4", bytes: 4096 * 1024 },
] as const)(
  "a $kind disk fills up: no torn line, and the log goes on when there is room",
  async ({ kind, bytes }, context) => {
    using disk = await diskOr(context, kind, { bytes });
    writeFileSync(join(disk.path, "ballast"), Buffer.alloc(80 * 1024, 1));
    const log = await openLog(disk.path, { fileBytesMax: smallestFile });
    const written = await fillUp(log);
    const size = statSync(join(disk.path, logName)).size;
    expect(await fillUp(log)).toBe(0);
    expect(statSync(join(disk.path, logName)).size).toBe(size);
    expect(verifyLog([join(disk.path, logName)]).findings).toEqual([]);
    rmSync(join(disk.path, "ballast"));
    log.append(longEntry(99));
    log.close();
    expect(recordsOf(disk.path)).toHaveLength(written + 3);
    expect(isIntact(disk.path)).toBe(true);
  },
);

test("a log that may go on without counts what it could not write", async (context) => {
  using disk = await diskOr(context, "tmpfs", { bytes: 256 * 1024 });
  writeFileSync(join(disk.path, "ballast"), Buffer.alloc(80 * 1024, 1));
  const notes: string[] = [];
  const log = await openLog(disk.path, { onFailure: "continue", note: (text) => notes.push(text) });
  let written = 0;
  while (log.append(longEntry(written)) !== null) written++;
  expect([log.append(longEntry(1)), log.append(longEntry(2))]).toEqual([null, null]);
  expect(notes).toEqual(["audit log: calls go on without records: Cannot write the audit log: the disk is full"]);
  rmSync(join(disk.path, "ballast"));
  // One more than the record that is written now: the one that tells of the loss.
  expect(log.append(callEntry(9))).toMatchObject({ seq: written + 2 });
  log.close();
  expect(recordsOf(disk.path).slice(-3)).toMatchObject([
    { kind: "lost", records: 3 },
    { kind: "call" },
    { kind: "closed" },
  ]);
  expect(notes).toHaveLength(2);
  expect(verifyLog([join(disk.path, logName)])).toMatchObject({
    isIntact: true,
    notes: [`before record ${written + 1}, 3 records could not be written while calls went on`],
  });
});

test("a disk that becomes read-only: the record is refused, or lost", async (context) => {
  using disk = await diskOr(context, "ext4", { bytes: 4096 * 1024 });
  const strict = await openLog(disk.path);
  const lenient = await openLog(disk.path, { file: join(disk.path, "other.jsonl"), onFailure: "continue" });
  await disk.remountReadOnly();
  expect(await failureOf(() => strict.append(callEntry(1)))).toEqual({
    code: "STORAGE_FAILED",
    message: "Cannot write the audit log: the disk is read-only",
  });
  expect(lenient.append(callEntry(1))).toBeNull();
  expect(await failureOf(() => strict.close())).toMatchObject({ code: "STORAGE_FAILED" });
  lenient.close();
  expect(linesOf(disk.path)).toHaveLength(1);
});

test("a closed log takes nothing more, and closing it again is harmless", async () => {
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
  [{ file: "log/" }, TypeError, "the audit log's file is not the name of a file"],
  [{ file: "a\0b" }, TypeError, "the audit log's file is not the name of a file"],
  [{ fileBytesMax: 0 }, RangeError, "fileBytesMax is 0, allowed: a whole number from 65536"],
  [{ fileBytesMax: 65_535 }, RangeError, "allowed: a whole number from 65536"],
  [{ fileBytesMax: 70_000.5 }, RangeError, "allowed: a whole number from 65536"],
  [{ onFailure: "ignore" as never }, RangeError, 'onFailure is ignore, allowed: "refuse", "continue"'],
] as const)("options that make no sense: %o", async ([options, kind, message]) => {
  using folder = temporaryFolder();
  const opening = openLog(folder.path, options);
  await expect(opening).rejects.toThrow(kind);
  await expect(opening).rejects.toThrow(message);
  expect(readdirSync(folder.path)).toEqual([]);
});
