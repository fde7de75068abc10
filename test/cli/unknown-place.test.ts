/** A user, a folder or a run that does not exist is told, and nothing is made in its place. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { newEvent, RunHistory, userMessageData } from "memcell/run-history";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
afterAll(() => folder[Symbol.dispose]());

beforeAll(async () => {
  const plugins = ["user-memory", "run-history", "stores"];
  await using runtime = await createRuntime({ dataDir, plugins, threadsMax: 1 });
  const event = newEvent(undefined, userMessageData({ message: "Hello" }));
  await new RunHistory(runtime, { userId: "alice" }).append("planner", "run-1", [event]);
  await runtime.stores({ userId: "alice" }).grant("planner");
});

const memcell = (data: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args, "--data", data], { cwd: folder.path, encoding: "utf8" });

const ofUser: readonly (readonly string[])[] = [
  ["doctor"],
  ["doctor", "--fix"],
  ["doctor", "--json"],
  ["trash", "list"],
  ["trash", "list", "--json"],
  ["trash", "purge", "--older-than", "0s"],
  ["trash", "purge", "--older-than", "0s", "--yes"],
  ["trash", "restore", "tea"],
  ["pending", "list"],
  ["pending", "reject", "w-1"],
  ["history"],
  ["history", "tea"],
  ["diff", "tea", "1"],
  ["restore", "tea", "--version", "1"],
  ["undo", "--since", "1h"],
  ["undo", "--run", "run-1", "--yes"],
  ["runs", "list"],
  ["runs", "show", "planner", "run-1"],
  ["export", "out.zip"],
  ["erase"],
  ["erase", "--yes"],
];

test.for(ofUser.map((args) => ({ args })))(
  "$args of a user of whom nothing is stored fails and makes nothing",
  ({ args }) => {
    const before = treeFingerprint(dataDir);
    const { status, stdout } = memcell(dataDir, ...args, "--user", "nosuch");
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND" } });
    expect(treeFingerprint(dataDir)).toEqual(before);
  },
);

const ofFolder = [
  ["doctor"],
  ["doctor", "--user", "alice"],
  ["trash", "list", "--user", "alice"],
  ["erase", "--user", "alice"],
];

test.for(ofFolder.map((args) => ({ args })))(
  "$args of a folder that does not exist fails and does not make it",
  ({ args }) => {
    const { status, stdout } = memcell("nosuchdir", ...args);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "ENTRY_NOT_FOUND" } });
    expect(existsSync(join(folder.path, "nosuchdir"))).toBe(false);
  },
);

test("the message names the user, or the folder and the setting that names it", () => {
  const user = memcell(dataDir, "doctor", "--user", "nosuch").stdout;
  expect(user).toContain(String.raw`nothing is stored of the user \"nosuch\"`);
  const place = memcell("nosuchdir", "doctor").stdout;
  expect(place).toContain(String.raw`Cannot open the data folder \"nosuchdir\" (flag --data): it does not exist`);
});

test("a folder in which nothing is stored has no user to check, and the doctor says so", () => {
  const empty = join(folder.path, "empty");
  mkdirSync(empty);
  const { status, stdout } = memcell(empty, "doctor");
  expect({ status, stdout }).toEqual({ status: 0, stdout: "0 users checked: nothing is stored there\n" });
});

test("a run that does not exist is told, and one without such events is none", () => {
  const missing = memcell(dataDir, "runs", "show", "planner", "run-2", "--user", "alice");
  expect(missing.status).toBe(1);
  expect(missing.stdout).toContain(String.raw`the agent \"planner\" has no run \"run-2\"`);
  const filtered = memcell(dataDir, "runs", "show", "planner", "run-1", "--type", "thinking", "--user", "alice");
  expect(filtered).toMatchObject({ status: 0, stdout: "No events\n" });
});

test("a new user has an empty index, makes an entry by a call, and reaches a store that was granted", () => {
  expect(memcell(dataDir, "index", "--user", "bob")).toMatchObject({ status: 0, stdout: "" });
  expect(memcell("nosuchdir", "index", "--user", "bob")).toMatchObject({ status: 0, stdout: "" });
  expect(existsSync(join(folder.path, "nosuchdir"))).toBe(false);
  // The id of the store can be granted before anything is in it.
  expect(memcell(dataDir, "stores", "show", "--user", "bob")).toMatchObject({ status: 0 });
  const input = JSON.stringify({ action: "upsert", name: "tea", type: "user", description: "d", body: "b" });
  expect(memcell(dataDir, "call", "UpdateUserMemory", "--input", input, "--user", "bob")).toMatchObject({ status: 0 });
  expect(memcell(dataDir, "doctor", "--user", "bob")).toMatchObject({ status: 0, stdout: "1 user checked\n" });
});
