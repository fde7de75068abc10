/** `--audit-log` of every command that records something. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { readRecords } from "../audit/audited-stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const entry = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
/** Those that only read do not open the log. */
const commands = [
  {
    args: ["call", "UpdateUserMemory", "--user", "alice", "--input", JSON.stringify(entry)],
    kinds: ["staged", "call"],
  },
  { args: ["doctor", "--fix"], kinds: ["call", "call", "call", "call", "upkeep"] },
  { args: ["trash", "purge", "--older-than", "1d", "--user", "alice", "--yes"], kinds: ["upkeep"] },
];

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function memcell(args: readonly string[]): Outcome {
  return spawnSync(process.execPath, [program, ...args], { cwd: folder.path, encoding: "utf8" });
}

test("several commands append to one log", () => {
  const [logFile, expected] = [join(folder.path, "log", "audit.jsonl"), [] as string[]];
  for (const { args, kinds } of commands) {
    expect(memcell([...args, "--audit-log", "log/audit.jsonl"])).toMatchObject({ status: 0, stderr: "" });
    expected.push("opened", ...kinds, "closed");
  }
  expect(readRecords(logFile).map(({ kind }) => kind)).toEqual(expected);
});

test.for(commands)("an invalid log is a usage error: $args", ({ args }) => {
  const { status, stderr } = memcell([...args, "--audit-log", "log/"]);
  expect(status).toBe(2);
  expect(stderr).toContain("the audit log's file must be a file's path, without NUL");
});

test.for(commands)("a log that cannot be opened is a coded error without effect: $args", ({ args }) => {
  for (const each of ["folder", "untouched/users/alice"]) mkdirSync(join(folder.path, each), { recursive: true });
  const { status, stdout } = memcell([...args, "--data", "untouched", "--audit-log", "folder"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: expect.stringMatching(/^STORAGE_/) } });
});
