/**
 * Commands use their flags, environment and file. Tests check what a command does, not what it prints about them.
 */
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import {
  all,
  eachWay,
  folder,
  input,
  memcell,
  recording,
  testLogs,
  testMisspelt,
  testPolicies,
} from "./said-settings.ts";

testLogs(recording);
testPolicies(all);
testMisspelt(all);

test.for(eachWay(recording.slice(0, 1)))(
  "$name keeps its data in the folder that a $way names",
  ({ args, of }, { task }) => {
    const { status, cwd } = memcell(task.id, args, of("--data", "MEMCELL_DATA", "data", "kept"));
    expect(status).toBe(0);
    expect(userFolderNames(join(cwd, "kept"))).toEqual(["alice"]);
    expect(existsSync(join(cwd, "data"))).toBe(false);
  },
);

test("reading commands use the folder that a writing command used", () => {
  const said = { env: { MEMCELL_DATA: "elsewhere" } };
  expect(memcell("shared", recording[0]?.args ?? [], said).status).toBe(0);
  expect(memcell("shared", ["index", "--user", "alice"], said).stdout).toContain("- [a](a.md)");
  expect(memcell("shared", ["doctor"], said).stdout).toBe("1 user checked\n");
  const gone = JSON.stringify({ action: "delete", name: "a" });
  expect(memcell("shared", ["call", "UpdateUserMemory", "--user", "alice", "--input", gone], said).status).toBe(0);
  expect(memcell("shared", ["trash", "list", "--user", "alice"], said).stdout).toContain("a.");
});

test.for(eachWay([{ name: "tools" }, { name: "audit" }]))(
  "$name loads the plugins that a $way names",
  ({ name, way }) => {
    const id = `plugins-${name}-${way}`;
    mkdirSync(join(folder.path, id));
    copyFileSync(shippedPlugin("user-memory"), join(folder.path, id, "mine.wasm"));
    const said = {
      flag: { args: ["--plugin", "mine.wasm"] },
      variable: { env: { MEMCELL_PLUGINS: "mine.wasm" } },
      file: { file: { plugins: ["mine.wasm"] } },
    }[way];
    // The audit takes plugin files as operands and has no flag for them.
    const args = name === "audit" && way === "flag" ? { args: ["mine.wasm"] } : said;
    expect(memcell(id, [name], args)).toMatchObject({ status: 0, stdout: expect.stringContaining("UpdateUserMemory") });
    writeFileSync(join(folder.path, id, "mine.wasm"), "none");
    expect(memcell(id, [name], args).status).toBe(1);
  },
);

test("a variable sets a tool's deadline", () => {
  const { stdout } = memcell("deadline", recording[0]?.args ?? [], { env: { MEMCELL_DEADLINE_MS: "1" } });
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "DEADLINE_EXCEEDED" } });
});

test("reports a default config file that is a broken link or a folder", () => {
  const names = ["nowhere", "."];
  for (const [index, target] of names.entries()) {
    const cwd = join(folder.path, `linked-${index}`);
    mkdirSync(cwd);
    symlinkSync(target, join(cwd, "memcell.config.json"));
    const { status, stderr } = memcell(`linked-${index}`, ["index", "--user", "alice"], {});
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('cannot use "memcell.config.json"'),
    });
  }
});

test("call does not take its user from the server's setting", () => {
  const said = { env: { MEMCELL_SERVE_USER: "bob" } };
  const { status, stdout, cwd } = memcell("served", ["call", "UpdateUserMemory", "--input", input], said);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "USER_REQUIRED" } });
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("tools writes no audit log, which another process could have open", () => {
  const { status, cwd } = memcell("tools-log", ["tools"], { env: { MEMCELL_AUDIT_LOG: "log/a.jsonl" } });
  expect({ status, isThere: existsSync(join(cwd, "log")) }).toEqual({ status: 0, isThere: false });
});

test("an audit log in the file that is not a file's name is an error", () => {
  const { status, stderr } = memcell("slash", recording[0]?.args ?? [], { file: { auditLog: "log/" } });
  expect(status).toBe(2);
  expect(stderr).toContain("the audit log's file must be a file's path, without NUL");
});
