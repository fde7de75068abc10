/** A log that is moved, replaced or changed while it is open: nothing more is written to it. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry } from "./audit-entries.ts";
import { failureOf } from "./failure-of.ts";
import { headName, kindsOf, logName, openLog } from "./log-under-test.ts";

const isIntact = (folder: string): boolean => verifyLog([join(folder, logName)]).isIntact;

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

test.for(removals)("writes nothing while $name, and goes on afterwards", async ({ change, restore, says }) => {
  using folder = temporaryFolder();
  const log = await openLog(folder.path);
  log.append(callEntry(1));
  change(folder.path);
  const before = readdirSync(folder.path).map((name) => [name, readFileSync(join(folder.path, name), "utf8")]);
  const { code, message } = await failureOf(() => log.append(callEntry(2)));
  expect([code, message]).toEqual(["STORAGE_UNSAFE", expect.stringContaining(says)]);
  expect(readdirSync(folder.path).map((name) => [name, readFileSync(join(folder.path, name), "utf8")])).toEqual(before);
  restore(folder.path);
  log.append(callEntry(3));
  log.close();
  expect(kindsOf(folder.path)).toEqual(["opened", "call", "call", "closed"]);
  expect(isIntact(folder.path)).toBe(true);
});

test("writes nothing while the log's folder is moved away", async () => {
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

test("reports records lost until the end to the operator, because no record can", async () => {
  using folder = temporaryFolder();
  const notes: string[] = [];
  const log = await openLog(folder.path, { onFailure: "continue", note: (text) => notes.push(text) });
  away(folder.path, logName);
  expect([log.append(callEntry(1)), log.append(callEntry(2))]).toEqual([null, null]);
  log.close();
  expect(notes).toEqual([
    "audit log: calls continue without records: Cannot write the audit log: its file is not where it was",
    "audit log: 3 records were lost, and no record says so",
  ]);
});
