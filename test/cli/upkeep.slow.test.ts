/** `memcell doctor` and `memcell trash` on the command line. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));

function memcell(dataDir: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, ...args, "--data", dataDir], { encoding: "utf8" });
}

const fact = "---\nname: a\ndescription: about a\ntype: user\n---\nbody";

test("doctor reports problems and remedies, and with --fix applies the remedies", () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/MEMORY.md": "", "memory/a.md": fact }, bob: { "memory/a.md": fact } });
  writeFileSync(join(userFolder(folder.path, "bob"), "memory", "MEMORY.md"), "- [a](a.md) \u2014 about a\n");
  const looked = memcell(folder.path, "doctor");
  expect(looked).toMatchObject({ status: 1, stderr: "" });
  expect(looked.stdout).toBe(
    '"alice"\n  memory/a.md: the index does not list it\n    to mend: add its line\n2 users checked\n',
  );
  expect(readFileSync(join(userFolder(folder.path, "alice"), "memory", "MEMORY.md"), "utf8")).toBe("");
  const fixed = memcell(folder.path, "doctor", "--user", "alice", "--fix");
  expect(fixed.status).toBe(0);
  expect(fixed.stdout).toContain("to mend: add its line\n  mended: 1, left: 0\n1 user checked\n");
  expect(memcell(folder.path, "doctor")).toMatchObject({ status: 0, stdout: "2 users checked\n" });
});

test("doctor --json prints JSON", () => {
  using folder = temporaryFolder();
  writeUserFiles(folder.path, { alice: { "memory/a.md": fact } });
  const { status, stdout } = memcell(folder.path, "doctor", "--json", "--fix");
  const finding = {
    problem: "index-missing",
    path: "memory/MEMORY.md",
    message: "there is no index",
    remedy: "build it from the entries",
  };
  expect(JSON.parse(stdout)).toEqual([
    { userId: "alice", findings: [finding], mended: [finding], remaining: [], error: null },
  ]);
  expect(status).toBe(0);
});

test("trash lists, restores and purges files", () => {
  using folder = temporaryFolder();
  const trashed = { "memory/trash/a.20200102T030405678Z.md": fact, "memory/trash/b.29990102T030405678Z.md": fact };
  writeUserFiles(folder.path, { alice: { ...trashed, "memory/MEMORY.md": "" } });
  const user = ["--user", "alice"];
  const list = "2020-01-02T03:04:05.678Z        52 bytes  a.20200102T030405678Z.md  (memory)\n";
  expect(memcell(folder.path, "trash", "list", ...user).stdout).toContain(list);
  expect(memcell(folder.path, "trash", "purge", "--older-than", "30d", "--dry-run", ...user).stdout).toBe(
    `${list}Nothing was changed; use --yes to purge\n`,
  );
  expect(memcell(folder.path, "trash", "restore", "b", ...user)).toMatchObject({ status: 0 });
  expect(memcell(folder.path, "trash", "purge", "--older-than", "30d", "--yes", ...user)).toMatchObject({
    status: 0,
    stdout: list,
  });
  expect(readUserFiles(folder.path, "alice")).toEqual({
    "memory/MEMORY.md": "- [b](b.md) \u2014 about a\n",
    "memory/b.md": fact,
  });
});

test("trash restore brings back all files of a run by the run's name, and prints the first", () => {
  using folder = temporaryFolder();
  const stamp = "20200102T030405678Z";
  const trashed = { [`run.${stamp}.json`]: "{}", [`000001.${stamp}.jsonl`]: "one", [`000002.${stamp}.jsonl`]: "two" };
  const inTrash = Object.entries(trashed).map(([name, text]) => [`runs/trash/agent/run/${name}`, text]);
  writeUserFiles(folder.path, { alice: Object.fromEntries(inTrash) as Record<string, string> });
  expect(memcell(folder.path, "trash", "restore", "agent/run", "--user", "alice")).toMatchObject({
    status: 0,
    stderr: "",
    stdout: `2020-01-02T03:04:05.678Z         2 bytes  agent/run/run.${stamp}.json  (runs)\n`,
  });
  const restored = { "run.json": "{}", "000001.jsonl": "one", "000002.jsonl": "two" };
  expect(readUserFiles(folder.path, "alice")).toEqual(
    Object.fromEntries(Object.entries(restored).map(([name, text]) => [`runs/agent/run/${name}`, text])),
  );
});

test("a coded error is JSON and exit code 1, an invalid command line is exit code 2", () => {
  using folder = temporaryFolder();
  const missing = memcell(folder.path, "trash", "restore", "nothing", "--user", "alice");
  expect(missing.status).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND" } });
  expect(memcell(folder.path, "trash", "list")).toMatchObject({ status: 2 });
  for (const args of [
    ["trash"],
    ["trash", "burn"],
    ["trash", "restore"],
    ["trash", "list", "more"],
    ["trash", "purge"],
    ["trash", "purge", "--older-than", "yesterday"],
    ["trash", "list", "--older-than", "3d"],
    ["trash", "restore", "a", "--dry-run"],
    ["doctor", "alice"],
    ["doctor", "--fix=no"],
  ]) {
    expect(memcell(folder.path, ...args, "--user", "alice")).toMatchObject({ status: 2, stdout: "" });
  }
});
