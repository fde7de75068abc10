/** Commands use their flags, environment and file. Tests check what a command does, not what it prints about them. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const input = JSON.stringify({ action: "upsert", name: "a", type: "user", description: "d", body: "b" });
const recording = [{ name: "call", args: ["call", "UpdateUserMemory", "--user", "alice", "--input", input] }];
/** They open no log: a server can be writing it. */
const reading = [
  { name: "index", args: ["index", "--user", "alice"] },
  { name: "doctor", args: ["doctor", "--user", "alice"] },
  { name: "trash", args: ["trash", "list", "--user", "alice"] },
];
const all = [...recording, ...reading, { name: "tools", args: ["tools"] }, { name: "audit", args: ["audit"] }];

/** The three ways to set a value. */
const ways = [
  { way: "flag", of: (flag: string, _variable: string, _key: string, value: string) => ({ args: [flag, value] }) },
  {
    way: "variable",
    of: (_f: string, variable: string, _k: string, value: string) => ({ env: { [variable]: value } }),
  },
  { way: "file", of: (_f: string, _v: string, key: string, value: string) => ({ file: { [key]: value } }) },
] as const;

interface Said {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: object;
}

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
}

function memcell(id: string, args: readonly string[], said: Said): Outcome {
  const cwd = join(folder.path, id);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "strict.json"), JSON.stringify({ version: 1, strict: true, plugins: {} }));
  if (said.file) writeFileSync(join(cwd, "memcell.config.json"), JSON.stringify(said.file));
  const env = { ...process.env, ...said.env };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...args, ...(said.args ?? []), ...(said.file ? ["--config", "."] : [])],
    {
      cwd,
      env,
      encoding: "utf8",
    },
  );
  return { status, stdout, stderr, cwd };
}

const eachWay = <Row extends object>(rows: readonly Row[]): (Row & (typeof ways)[number])[] =>
  rows.flatMap((row) => ways.map((way) => Object.assign({}, row, way)));

test.for(eachWay(recording))("$name writes the log that a $way names", ({ args, of }, { task }) => {
  const { status, cwd } = memcell(task.id, args, of("--audit-log", "MEMCELL_AUDIT_LOG", "auditLog", "log/a.jsonl"));
  expect({ status, isThere: existsSync(join(cwd, "log", "a.jsonl")) }).toEqual({ status: 0, isThere: true });
});

test.for(eachWay(all))("$name uses the policy that a $way names", ({ name, args, of }, { task }) => {
  mkdirSync(join(folder.path, task.id, "data"), { recursive: true });
  const { status, stdout } = memcell(task.id, args, of("--policy", "MEMCELL_POLICY", "policy", "strict.json"));
  expect(status).toBe(1);
  expect(stdout).toContain(name === "audit" ? "FAIL" : "PLUGIN_REFUSED");
});

test.for(all)("$name does nothing if a variable is misspelt or the file is invalid", ({ name, args }) => {
  const said = { env: { MEMCELL_AUDITLOG: "log/a.jsonl" } };
  const misspelt = memcell(`misspelt-${name}`, args, said);
  expect(misspelt).toMatchObject({ status: 2, stdout: "" });
  expect(misspelt.stderr).toContain("did you mean MEMCELL_AUDIT_LOG?");
  expect(existsSync(join(misspelt.cwd, "data"))).toBe(false);
  const unknown = memcell(`unknown-${name}`, args, { file: { auditlog: "x" } });
  expect(unknown).toMatchObject({ status: 2, stdout: "" });
  expect(unknown.stderr).toContain('"memcell.config.json" has "auditlog"');
});

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

test("reports a user's config file that is a broken link or a folder", () => {
  const names = ["nowhere", "."];
  for (const [index, target] of names.entries()) {
    const cwd = join(folder.path, `linked-${index}`);
    mkdirSync(cwd);
    mkdirSync(join(cwd, "memcell"));
    symlinkSync(target, join(cwd, "memcell", "config.json"));
    const said = { env: { XDG_CONFIG_HOME: cwd } };
    const { status, stderr } = memcell(`linked-${index}`, ["index", "--user", "alice"], said);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('cannot use "config.json"'),
    });
  }
});

test("call does not take its user from the server's setting", () => {
  const said = { env: { MEMCELL_SERVE_USER: "bob" } };
  const { status, stderr, cwd } = memcell("served", ["call", "UpdateUserMemory", "--input", input], said);
  expect(status).toBe(2);
  expect(stderr).toContain("--user");
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
