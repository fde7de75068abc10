/**
 * Commands as processes, each with a setting from a flag, a variable or a file, and the tests that all of them share.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
export const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

export const input = JSON.stringify({ action: "upsert", name: "a", type: "user", description: "d", body: "b" });
export const recording = [
  { name: "call", args: ["call", "UpdateUserMemory", "--user", "alice", "--input", input] },
  { name: "index", args: ["index", "--user", "alice"] },
  { name: "doctor", args: ["doctor", "--user", "alice"] },
  { name: "trash", args: ["trash", "list", "--user", "alice"] },
];
export const all = [...recording, { name: "tools", args: ["tools"] }, { name: "audit", args: ["audit"] }];

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

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly cwd: string;
}

export function memcell(id: string, args: readonly string[], said: Said): Outcome {
  const cwd = join(folder.path, id);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "strict.json"), JSON.stringify({ version: 1, plugins: {} }));
  if (said.file) writeFileSync(join(cwd, "memcell.config.json"), JSON.stringify(said.file));
  const env = { ...process.env, ...said.env };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args, ...(said.args ?? [])], {
    cwd,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr, cwd };
}

export const eachWay = <Row extends object>(rows: readonly Row[]): (Row & (typeof ways)[number])[] =>
  rows.flatMap((row) => ways.map((way) => Object.assign({}, row, way)));

type Command = (typeof all)[number];

/** Declares a test for each command that writes a log. */
export function testLogs(commands: readonly Command[]): void {
  test.for(eachWay(commands))("$name writes the log that a $way names", ({ args, of }, { task }) => {
    const { status, cwd } = memcell(task.id, args, of("--audit-log", "MEMCELL_AUDIT_LOG", "auditLog", "log/a.jsonl"));
    expect({ status, isThere: existsSync(join(cwd, "log", "a.jsonl")) }).toEqual({ status: 0, isThere: true });
  });
}

/** Declares a test for each command that uses a policy. */
export function testPolicies(commands: readonly Command[]): void {
  test.for(eachWay(commands))("$name uses the policy that a $way names", ({ name, args, of }, { task }) => {
    const { status, stdout } = memcell(task.id, args, of("--policy", "MEMCELL_POLICY", "policy", "strict.json"));
    expect(status).toBe(1);
    expect(stdout).toContain(name === "audit" ? "FAIL" : "PLUGIN_REFUSED");
  });
}

/** Declares a test for each command that a misspelt setting stops. */
export function testMisspelt(commands: readonly Command[]): void {
  test.for(commands)("$name does nothing if a variable is misspelt or the file is invalid", ({ name, args }) => {
    const said = { env: { MEMCELL_AUDITLOG: "log/a.jsonl" } };
    const misspelt = memcell(`misspelt-${name}`, args, said);
    expect(misspelt).toMatchObject({ status: 2, stdout: "" });
    expect(misspelt.stderr).toContain("the nearest is MEMCELL_AUDIT_LOG");
    expect(existsSync(join(misspelt.cwd, "data"))).toBe(false);
    const unknown = memcell(`unknown-${name}`, args, { file: { auditlog: "x" } });
    expect(unknown).toMatchObject({ status: 2, stdout: "" });
    expect(unknown.stderr).toContain('"memcell.config.json" has "auditlog"');
  });
}
