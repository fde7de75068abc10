/** `memcell audit verify` as a process. */
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { verifyLog } from "../stage/audit-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { callEntry, useEntry } from "./audit-entries.ts";
import { linesOf, logName, writeLines, writeRun } from "./log-under-test.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

function verify(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, "audit", "verify", ...args], { encoding: "utf8" });
}

test("a whole log passes, and its head is printed", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  await writeRun(folder.path, [callEntry(1), useEntry(2)]);
  const { head, bytes } = verifyLog([file]);
  const place = `${head?.seq}:${head?.hash}`;
  const stdout = `PASS  4 records, 0 to 3, in 1 file, ${bytes} bytes\nhead  ${place}\n`;
  expect(verify(file)).toEqual(expect.objectContaining({ status: 0, stdout, stderr: "" }));
  expect(verify(file, "--head", place)).toMatchObject({ status: 0, stdout });
  const json = verify(file, "--json");
  expect(json.status).toBe(0);
  expect(JSON.parse(json.stdout)).toEqual(verifyLog([file]));
});

test("reports changes by record and line", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  await writeRun(folder.path, [callEntry(1), callEntry(2), callEntry(3), callEntry(4)]);
  const lines = linesOf(folder.path);
  writeLines(folder.path, logName, [...lines.slice(0, 2), ...lines.slice(3)]);
  const { status, stdout } = verify(file);
  expect(status).toBe(1);
  expect(stdout).toContain("FAIL  5 records, 0 to 5, in 1 file, ");
  expect(stdout).toContain('  "audit.jsonl" line 3: between records 1 and 3, one record was removed\n');
  expect(verify(file, "--partial")).toMatchObject({ status: 1 });
});

test("finds a log rewritten together with its head only with a position noted elsewhere", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, logName);
  await writeRun(folder.path, [callEntry(1), callEntry(2)]);
  const { head } = verifyLog([file]);
  mkdirSync(join(folder.path, "old"));
  for (const name of [logName, `${logName}.head`]) renameSync(join(folder.path, name), join(folder.path, "old", name));
  await writeRun(folder.path, [callEntry(1), callEntry(3)]);
  expect(verify(file).status).toBe(0);
  const { status, stdout } = verify(file, "--head", `${head?.seq}:${head?.hash}`);
  expect(status).toBe(1);
  expect(stdout).toContain("record 3 was altered: its hash differs from the one in the noted head");
  const beyond = verify(file, "--head", `99:${head?.hash}`);
  expect(beyond.status).toBe(1);
  expect(beyond.stdout).toContain("the log ends with record 3, but the noted head names record 99");
});

test("prints no text of a log or file name raw to the terminal", async () => {
  using folder = temporaryFolder();
  const name = "a\u001b[31m\u202e\u009b\u{e0041}.jsonl";
  const file = join(folder.path, name);
  await writeRun(folder.path, [callEntry(1, { userId: "\u001b[2J\u202e" })], { file });
  const lines = linesOf(folder.path, name);
  writeLines(folder.path, name, ["\u001b[2J\u202e", ...lines, '{"seq":7,"kind":"\u001b]0;"}', lines[1] ?? ""]);
  for (const args of [[file], [file, "--json"]]) {
    const { status, stdout, stderr } = verify(...args);
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).not.toMatch(/[^\n\P{Cc}]|\p{Cf}|\p{Zl}|\p{Zp}/u);
  }
  expect(JSON.parse(verify(file, "--json").stdout)).toEqual(verifyLog([file]));
});

test("an unreadable log exits with 1, an invalid command line with 2", () => {
  using folder = temporaryFolder();
  const missing = verify(join(folder.path, "nothing.jsonl"));
  expect(missing.status).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({ ok: false, error: { code: "STORAGE_FAILED" } });
  for (const args of [[], [""], ["a", "--head", "1"], ["a", "--head", `1:${"g".repeat(64)}`], ["a", "--other"]]) {
    expect(verify(...args)).toMatchObject({ status: 2, stdout: "" });
  }
  expect(verify("--help")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("memcell audit verify [options] <LOG...>"),
  });
});
