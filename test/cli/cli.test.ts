/** The command line: a process, its two outputs and its exit code. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { copyPackage } from "../support/copied-clone.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolderNames } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function memcell(args: readonly string[], input = ""): Outcome {
  return spawnSync(process.execPath, [program, ...args], { cwd: folder.path, input, encoding: "utf8" });
}

const entry = {
  action: "upsert",
  name: "editor",
  type: "user",
  description: "Uses Helix",
  body: "The user uses Helix.",
};

test("call stores under ./data by default, and prints only the result as JSON", () => {
  const { status, stdout, stderr } = memcell([
    "call",
    "UpdateUserMemory",
    "--user",
    "alice",
    "--input",
    JSON.stringify(entry),
  ]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { name: "editor", outcome: "created" } });
  expect(readUserFiles(`${folder.path}/data`, "alice")["memory/MEMORY.md"]).toBe(
    "- [editor](editor.md) \u2014 Uses Helix\n",
  );
});

test("call reads its input from standard input", () => {
  const { status, stdout } = memcell(["call", "ReadUserMemory", "--user", "alice"], '{"name":"editor"}');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { body: "The user uses Helix." } });
});

test("index prints the framed index, and nothing for a user without entries", () => {
  expect(memcell(["index", "--user", "alice"]).stdout).toContain("- [editor](editor.md) \u2014 Uses Helix\n");
  expect(memcell(["index", "--user", "bob"])).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

test("tools prints the fields that a function-calling API needs", () => {
  const { status, stdout } = memcell(["tools", "--plugin", "user-memory"]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { name: "UpdateUserMemory", inputSchema: { type: "object", required: ["action", "name"] } },
    { name: "ReadUserMemory", inputSchema: { type: "object", required: ["name"] } },
    { name: "SearchUserMemory", inputSchema: { type: "object" } },
  ]);
  expect(stdout).not.toContain("<!-- parameters -->");
});

test("tools --doc prints only the page of a tool", () => {
  for (const name of ["UpdateUserMemory", "ReadUserMemory", "SearchUserMemory"]) {
    const page = readFileSync(new URL(`../../plugin/user-memory/${name}.md`, import.meta.url), "utf8");
    expect(memcell(["tools", "--doc", name])).toEqual(expect.objectContaining({ status: 0, stdout: page, stderr: "" }));
  }
});

test.for(["PromptIndex", "updateusermemory", "../README"])("tools --doc %s is TOOL_UNKNOWN, exit code 1", (name) => {
  const { status, stdout, stderr } = memcell(["tools", "--doc", name]);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    error: {
      code: "TOOL_UNKNOWN",
      message: expect.stringMatching(
        /^Cannot document ".+": no such tool, allowed: .*UpdateUserMemory, ReadUserMemory, SearchUserMemory/,
      ) as string,
    },
  });
});

test("tools --doc reports a tool without a page", () => {
  const place = `${folder.path}/package`;
  copyPackage(place);
  const plugin = `${place}/dist/plugins/user-memory.wasm`;
  const wasm = readFileSync(plugin);
  const manifest = manifestOf(wasm);
  const tools = manifest.tools.map((tool) => ({ ...tool, documentation: undefined }));
  writeFileSync(plugin, resealPlugin(wasm, { ...manifest, tools }));
  writeFileSync(`${folder.path}/policy.json`, JSON.stringify(policyFor([plugin])));
  const args = [`${place}/dist/host/cli/main.js`, "tools", "--plugin", "user-memory", "--policy", "policy.json"];
  const run = (more: readonly string[]): Outcome =>
    spawnSync(process.execPath, [...args, ...more], { cwd: folder.path, encoding: "utf8" });
  expect(run([])).toMatchObject({ status: 0, stderr: "" });
  expect(run(["--doc", "ReadUserMemory"])).toMatchObject({
    status: 1,
    stdout: "",
    stderr: 'memcell tools: the tool "ReadUserMemory" has no page\n',
  });
});

test.for([
  { name: "an unknown tool", args: ["call", "Delete", "--user", "eve", "--input", "{}"], code: "TOOL_UNKNOWN" },
  {
    name: "the host's own tool",
    args: ["call", "PromptIndex", "--user", "eve", "--input", "{}"],
    code: "TOOL_UNKNOWN",
  },
  {
    name: "input that is no object",
    args: ["call", "UpdateUserMemory", "--user", "eve", "--input", "[]"],
    code: "INPUT_INVALID",
  },
  { name: "empty input", args: ["call", "UpdateUserMemory", "--user", "eve"], code: "INPUT_INVALID" },
  {
    name: "a missing entry",
    args: ["call", "ReadUserMemory", "--user", "eve", "--input", '{"name":"x"}'],
    code: "ENTRY_NOT_FOUND",
  },
])("$name is a coded error with exit code 1, and creates nothing", ({ args, code }) => {
  const { status, stdout } = memcell(args);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code, message: expect.stringContaining("Cannot") } });
  expect(stdout).not.toContain(folder.path);
  expect(userFolderNames(`${folder.path}/data`)).toEqual(["alice"]);
});

test.for([
  { name: "no command", args: [] },
  { name: "an unknown command", args: ["remember"] },
  { name: "an unknown option", args: ["call", "ReadUserMemory", "--usr", "alice"] },
  { name: "a missing tool", args: ["call", "--user", "alice"] },
  { name: "a surplus argument", args: ["tools", "more"] },
  { name: "an option without value", args: ["index", "--user"] },
  { name: "an option in the place of a missing value", args: ["trash", "list", "--user", "--json"] },
  { name: "an empty data folder", args: ["index", "--user", "alice", "--data", ""] },
])("$name is a usage error: exit code 2, nothing on standard output", ({ args }) => {
  const { status, stdout, stderr } = memcell(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).not.toBe("");
});

test.for(["--version", "-V"])("%s prints the package's version", (flag) => {
  const packageFile = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  expect(memcell([flag])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
});

test.for([
  { name: "too long", input: `{"name":"${"x".repeat(600_000)}"}`, says: "524288" },
  { name: "not UTF-8", input: Buffer.from('{"name":"caf\xe9"}', "latin1"), says: "UTF-8" },
])("standard input that is $name is INPUT_INVALID", ({ input, says }) => {
  const args = [program, "call", "ReadUserMemory", "--user", "alice"];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder.path, input, encoding: "utf8" });
  expect(status).toBe(1);
  const message = expect.stringContaining(says) as string;
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "INPUT_INVALID", message } });
});

test("a user id can be -h", () => {
  expect(memcell(["index", "--user=-h"])).toMatchObject({ status: 0, stdout: "" });
});

test.for([[], ["call"], ["index"], ["tools"]].map((command) => ({ command })))(
  "--help of $command has examples",
  ({ command }) => {
    const { status, stdout } = memcell([...command, "--help"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/Examples:\n {2}memcell/);
  },
);

test("a removed working directory is reported in a sentence, and help works without one", () => {
  using gone = temporaryFolder();
  const run = (...args: string[]) =>
    spawnSync("sh", ["-c", 'rmdir "$PWD" && exec "$@"', "sh", process.execPath, program, ...args], {
      cwd: mkdtempSync(join(gone.path, "cwd-")),
      encoding: "utf8",
    });
  const sentence = "the working directory no longer exists, allowed: an existing one";
  for (const args of [["index", "--user", "alice"], ["serve", "--user", "alice"], ["config"]]) {
    const stderr = `memcell ${args[0]}: ${sentence}\nTry "memcell ${args[0]} --help"\n`;
    expect(run(...args)).toMatchObject({ status: 2, stdout: "", stderr });
  }
  expect(run("index", "--help")).toMatchObject({ status: 0, stderr: "" });
});

test("an option that takes one text is refused when it is given twice", () => {
  for (const [name, args] of [
    ["user", ["index", "--user", "alice", "--user", "bob"]],
    ["data", ["index", "--user", "alice", "--data", "data", "--data=data"]],
    ["user", ["serve", "--user", "alice", "--user", "bob"]],
    ["config", ["config", "--config", "a", "--config", "b"]],
  ] as const) {
    const { status, stdout, stderr } = memcell(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(`--${name} is given twice, allowed: once\n`);
  }
});
