/** `--read-only` of every command that opens a runtime. */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
const dataDir = join(folder.path, "data");
let before: ReturnType<typeof treeFingerprint>;

const alice = { userId: "alice" };
const fact = (name: string): object => ({ action: "upsert", name, type: "user", description: "d", body: "b" });

beforeAll(async () => {
  const runtime = await createRuntime({ dataDir, plugins: shippedNames(), threadsMax: 1 });
  for (const name of ["a", "gone"]) await runtime.call("UpdateUserMemory", fact(name), alice);
  await runtime.call("UpdateUserMemory", { action: "delete", name: "gone" }, alice);
  const event = { type: "planner_note", data: '{"note":"n"}' };
  await runtime.callAsHost("AppendRunEvents", { agentId: "p", runId: "r", events: [event] }, alice);
  await runtime.close();
  before = treeFingerprint(dataDir);
  expect(memcell(["export", "--user", "alice", "alice.zip"]).status).toBe(0);
});
afterAll(() => folder[Symbol.dispose]());

const loadingAll = { MEMCELL_PLUGINS: shippedNames().join(delimiter) };

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function memcell(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Outcome {
  const options = {
    cwd: folder.path,
    encoding: "utf8",
    env: { ...process.env, ...loadingAll, ...environment },
  } as const;
  return spawnSync(process.execPath, [program, ...args], options);
}

const reading: readonly (readonly string[])[] = [
  ["call", "ReadUserMemory", "--input", '{"name":"a"}'],
  ["index"],
  ["doctor"],
  ["trash", "list"],
  ["trash", "purge", "--older-than", "0s", "--dry-run"],
  ["runs", "list"],
  ["runs", "show", "p", "r"],
  ["stores", "list"],
  ["stores", "show"],
  ["export", "again.zip"],
];

test.for(reading)("%s works and says on standard error what does not", (args) => {
  const { status, stderr } = memcell([...args, "--user", "alice", "--read-only"]);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: expect.stringMatching(/^info read-only: nothing is changed, so these are not available: .*\n$/),
  });
  expect(treeFingerprint(dataDir)).toEqual(before);
});

const changing: readonly { readonly args: readonly string[]; readonly code: string }[] = [
  { args: ["call", "UpdateUserMemory", "--input", JSON.stringify(fact("b"))], code: "TOOL_UNKNOWN" },
  { args: ["call", "memory", "--input", '{"command":"create","path":"a","content":"x"}'], code: "INPUT_INVALID" },
  { args: ["doctor", "--fix"], code: "READ_ONLY" },
  { args: ["trash", "restore", "gone"], code: "READ_ONLY" },
  { args: ["trash", "purge", "--older-than", "0s", "--yes"], code: "READ_ONLY" },
  { args: ["runs", "delete", "p", "r"], code: "TOOL_UNKNOWN" },
  { args: ["stores", "grant", "bob"], code: "READ_ONLY" },
  { args: ["stores", "revoke", "bob"], code: "READ_ONLY" },
  { args: ["stores", "clear", "bob"], code: "TOOL_UNKNOWN" },
  { args: ["import", "alice.zip"], code: "READ_ONLY" },
  { args: ["import", "alice.zip", "--yes"], code: "READ_ONLY" },
];

test.for(changing)("$args is $code", ({ args, code }) => {
  const { status, stdout } = memcell([...args, "--user", "alice", "--read-only"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code } });
  expect(stdout).not.toContain(folder.path);
  expect(treeFingerprint(dataDir)).toEqual(before);
});

test("tools prints only what is left, also where the environment or the config file says it", () => {
  writeFileSync(join(folder.path, "memcell.config.json"), JSON.stringify({ readOnly: true }), { mode: 0o600 });
  const outcomes = [
    memcell(["tools", "--read-only"]),
    memcell(["tools"], { MEMCELL_READ_ONLY: "true" }),
    memcell(["tools", "--config", "."]),
  ];
  for (const { status, stdout } of outcomes) {
    expect(status).toBe(0);
    const tools = JSON.parse(stdout) as { readonly name: string }[];
    expect(tools.map(({ name }) => name)).toEqual([
      "memory_read",
      "memory_search",
      "ReadRunHistory",
      "memory",
      "ReadUserMemory",
      "SearchUserMemory",
    ]);
  }
  const whole = memcell(["tools", "--config", ".", "--no-read-only"]);
  expect((JSON.parse(whole.stdout) as unknown[]).length).toBeGreaterThan(6);
  expect(whole.stderr).toBe("");
});

test("serve starts on a folder that does not exist, and makes none", () => {
  const args = ["serve", "--user", "alice", "--data", "none", "--read-only"];
  const options = { cwd: folder.path, encoding: "utf8", input: "" } as const;
  expect(spawnSync(process.execPath, [program, ...args], options).status).toBe(0);
  expect(existsSync(join(folder.path, "none"))).toBe(false);
});
