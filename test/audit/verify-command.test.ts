/** What `memcell audit verify` prints, what it is told, and how it exits. */
import { rmSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { memcell } from "../stage/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fullName, headName, linesOf, logName, smallestFile, verify, writeLines, writeRun } from "./written-log.ts";

test("the text has the first broken link by file and line, and the head to be noted", async () => {
  using folder = temporaryFolder();
  const calls = Array.from({ length: 14 }, (_, at) => at);
  await writeRun(folder.path, calls, { isLong: true, fileBytesMax: smallestFile });
  const file = join(folder.path, logName);
  const { head, bytes } = verifyLog([file]);
  const place = `${head?.seq}:${head?.hash}`;
  const stdout = `PASS  16 records, 0 to 15, in 2 files, ${bytes} bytes\nhead  ${place}\n`;
  expect(await memcell(["audit", "verify", file])).toEqual({ status: 0, stdout, stderr: "" });
  expect(await memcell(["audit", "verify", file, "--head", place])).toMatchObject({ status: 0, stdout });
  writeLines(folder.path, fullName(0), linesOf(folder.path, fullName(0)).toSpliced(2, 1));
  const failed = await memcell(["audit", "verify", file]);
  expect(failed.status).toBe(1);
  const broken = `  "${fullName(0)}" line 3: between records 1 and 3, one record was removed`;
  expect(failed.stdout).toMatch(/^FAIL {2}15 records, 0 to 15, in 2 files, \d+ bytes\n/);
  expect(failed.stdout.split("\n").slice(1)).toEqual([broken, `head  ${place}`, ""]);
  rmSync(join(folder.path, headName));
  const { stdout: partial } = await memcell(["audit", "verify", file, "--partial"]);
  expect(partial).toContain("note  only the log itself says where it ends\n");
});

test("only a head noted elsewhere finds a log that was rewritten together with its head", async () => {
  using folder = temporaryFolder();
  const [mine, theirs] = ["mine", "theirs"].map((name) => join(folder.path, name)) as [string, string];
  await writeRun(mine, [1, 2]);
  await writeRun(theirs, [1, 3]);
  const { head } = await verify(join(mine, logName));
  const brokenBy = async (...args: string[]) => (await verify(join(theirs, logName), ...args)).broken;
  const broken = { seq: 3, file: logName, line: 4 };
  expect(await brokenBy()).toBeNull();
  expect(await brokenBy("--head", `${head?.seq}:${head?.hash}`)).toEqual({
    ...broken,
    text: "record 3 was altered: its hash differs from the one in the noted head",
  });
  expect(await brokenBy("--head", `99:${head?.hash}`)).toEqual({
    ...broken,
    text: "the log ends with record 3, but the noted head names record 99: records were removed from the end",
  });
});

test("prints no text of a log or file name raw to the terminal", async () => {
  using folder = temporaryFolder();
  const name = "a\u001b[31m\u202e\u009b\u{e0041}.jsonl";
  const file = join(folder.path, name);
  await writeRun(folder.path, [1], { file });
  const lines = linesOf(folder.path, name);
  writeLines(folder.path, name, ["\u001b[2J\u202e", ...lines, '{"seq":7,"kind":"\u001b]0;"}', lines[1] ?? ""]);
  for (const args of [[file], [file, "--json"], ["a", "--\u009b2J\u202e"]]) {
    const { status, stdout, stderr } = await memcell(["audit", "verify", ...args]);
    expect(status).toBeGreaterThan(0);
    expect(`${stdout}${stderr}`).not.toMatch(/[^\n\P{Cc}]|\p{Cf}|\p{Zl}|\p{Zp}/u);
  }
  expect(await verify(file)).toEqual(verifyLog([file]));
});

test("an unreadable log exits with 1, an invalid command line with 2", async () => {
  using folder = temporaryFolder();
  const missing = await memcell(["audit", "verify", join(folder.path, "nothing.jsonl"), "--json"]);
  expect(missing.status).toBe(1);
  const error = { code: "STORAGE_FAILED", message: "Cannot read the audit log: there is no such file" };
  expect(JSON.parse(missing.stdout)).toMatchObject({ ok: false, error });
  for (const args of [[], [""], ["a", "--head", "1"], ["a", "--head", `1:${"g".repeat(64)}`], ["a", "--other"]]) {
    expect(await memcell(["audit", "verify", ...args])).toMatchObject({ status: 2, stdout: "" });
  }
});
