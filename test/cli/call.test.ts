/** `memcell call`, `memcell index` and `memcell tools`: a model's tools on the command line. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { memcell as run } from "../stage/command.ts";
import { writeCodedReporter } from "../support/coded-plugins.ts";
import { policyFor } from "../support/policy-for.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";
import { commandStage, errorOf } from "./command-stage.ts";

const stage = commandStage();
afterAll(() => stage[Symbol.dispose]());
const memcell = (args: readonly string[], stdin: string | Uint8Array = "") => run(args, { stdin, cwd: stage.path });

const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "In Helix." };
const line = "- [editor](editor.md) \u2014 Uses Helix\n";

test("call stores under ./data by default and prints only the result; index prints what a prompt has", async () => {
  const called = await memcell(["call", "UpdateUserMemory", "--user", "alice", "--input", JSON.stringify(entry)]);
  expect(called).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(called.stdout)).toMatchObject({ ok: true, data: { name: "editor", outcome: "created" } });
  expect(readUserFiles(join(stage.path, "data"), "alice")["memory/MEMORY.md"]).toBe(line);
  const read = await memcell(["call", "ReadUserMemory", "--user", "alice"], '{"name":"editor"}');
  expect(JSON.parse(read.stdout)).toMatchObject({ ok: true, data: { body: "In Helix." } });
  expect((await memcell(["index", "--user", "alice"])).stdout).toContain(line);
  // An id can be "-h", and a user without entries has no index.
  for (const user of ["bob", "-h"]) {
    expect(await memcell(["index", `--user=${user}`])).toEqual({ status: 0, stdout: "", stderr: "" });
  }
});

test.for([
  { name: "an unknown tool", args: ["Delete", "--input", "{}"], code: "TOOL_UNKNOWN" },
  { name: "the host's own tool", args: ["PromptIndex", "--input", "{}"], code: "TOOL_UNKNOWN" },
  { name: "input that is no object", args: ["UpdateUserMemory", "--input", "[]"], code: "INPUT_INVALID" },
  { name: "empty input", args: ["UpdateUserMemory"], code: "INPUT_INVALID" },
  { name: "a missing entry", args: ["ReadUserMemory", "--input", '{"name":"x"}'], code: "ENTRY_NOT_FOUND" },
  {
    name: "too long an input",
    args: ["ReadUserMemory"],
    input: `{"name":"${"x".repeat(600_000)}"}`,
    code: "INPUT_INVALID",
    says: "524288",
  },
  {
    name: "input that is not UTF-8",
    args: ["ReadUserMemory"],
    input: Buffer.from('{"name":"caf\xe9"}', "latin1"),
    code: "INPUT_INVALID",
    says: "UTF-8",
  },
])("$name is a coded error with exit code 1, and creates nothing", async ({ args, input, code, says = "Cannot" }) => {
  const ran = await memcell(["call", ...args, "--user", "eve"], input);
  expect(errorOf(ran)).toMatchObject({ code, message: expect.stringContaining(says) });
  expect(ran.stdout).not.toContain(stage.path);
  expect(userFolderNames(join(stage.path, "data"))).toEqual(["alice"]);
});

test("tools prints the fields that a function-calling API needs, and --doc only the page of a tool", async () => {
  const { status, stdout } = await memcell(["tools", "--plugin", "user-memory"]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { name: "UpdateUserMemory", inputSchema: { type: "object", required: ["action", "name"] } },
    { name: "ReadUserMemory", inputSchema: { type: "object", required: ["name"] } },
    { name: "SearchUserMemory", inputSchema: { type: "object" } },
  ]);
  expect(stdout).not.toContain("<!-- parameters -->");
  for (const name of ["UpdateUserMemory", "ReadUserMemory", "SearchUserMemory"]) {
    const page = readFileSync(new URL(`../../plugin/user-memory/${name}.md`, import.meta.url), "utf8");
    expect(await memcell(["tools", "--doc", name])).toEqual({ status: 0, stdout: page, stderr: "" });
  }
  for (const name of ["PromptIndex", "updateusermemory", "../README"]) {
    const { code, message } = errorOf(await memcell(["tools", "--doc", name]));
    expect(code).toBe("TOOL_UNKNOWN");
    expect(message).toMatch(/^Cannot document ".+": no such tool, allowed: UpdateUserMemory, ReadUserMemory, Search/);
  }
});

test("call prints a plugin's own code with its `of`, and tools prints the codes with each tool", async () => {
  const errors = [{ code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." }] as const;
  const plugin = writeCodedReporter(stage.path, "Report", errors);
  writeFileSync(stage.place("coded.json"), JSON.stringify(policyFor([plugin])));
  const settings = ["--plugin", plugin, "--policy", "coded.json"];
  const input = JSON.stringify({ ok: false, error: { code: "SEAT_TAKEN", message: "Somebody sits there" } });
  const called = await memcell(["call", "Report", "--user", "alice", ...settings, "--input", input]);
  expect(errorOf(called)).toEqual({
    code: "SEAT_TAKEN",
    of: "NAME_CONFLICT",
    message: "Somebody sits there",
    blame: "caller",
    retryable: false,
  });
  const tools = JSON.parse((await memcell(["tools", ...settings])).stdout) as { errors?: unknown }[];
  expect(tools.map((tool) => tool.errors)).toEqual([errors]);
});

test("a guest's log text stays in its own lines", async () => {
  const puppet = testPlugin("puppet");
  writeFileSync(stage.place("puppet.json"), JSON.stringify(policyFor([puppet])));
  const input = JSON.stringify([{ log: "\u001b[2Jfine\nerror host: gone", times: 1 }]);
  const args = ["--user", "alice", "--plugin", puppet, "--policy", "puppet.json", "--input", input];
  const { stderr } = await memcell(["call", "Puppet", ...args]);
  expect(stderr).toMatch(/^\w+ Puppet: \\u001b\[2Jfine\n {2}error host: gone\n$/);
});

test.for(["--version", "-V"])("%s prints the package's version", async (flag) => {
  const packageFile = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(packageFile) as { version: string };
  expect(await memcell([flag])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
});
