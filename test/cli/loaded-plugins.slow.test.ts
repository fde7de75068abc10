/** Which plugins each command loads: the setting for models, the own family of a command, all for maintenance. */
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin, withTool } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags, shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const alice = ["--user", "alice"];

function memcell(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder.path,
    encoding: "utf8",
    input: "",
  });
  return { status, stdout, stderr };
}

const call = (tool: string, input: object, ...args: readonly string[]) =>
  memcell("call", tool, ...alice, "--input", JSON.stringify(input), ...args);

const toolsOf = (...args: readonly string[]): string[] =>
  (JSON.parse(memcell("tools", ...args).stdout) as { name: string }[]).map(({ name }) => name);

const modelTools = (plugin: string): string[] =>
  manifestOf(readFileSync(shippedPlugin(plugin)))
    .tools.filter(({ audience }) => audience === "model")
    .map(({ name }) => name);

const stamp = "20260101T000000000Z";
const line = '{"type":"planner_note","timestamp":"2026-01-01T10:00:00Z","data":{"note":"x"},"labels":{}}\n';

/** Files of every family, and one of each in the trash. */
const files = {
  "memory/MEMORY.md": indexLine("a"),
  "memory/a.md": entryText("a"),
  [`memory/trash/b.${stamp}.md`]: entryText("b"),
  "journal/MEMORY.md": "### k\n\ntext\n\n<!-- agentool-memory: at=2026-01-01T00:00:00+00:00 tags= -->\n\n",
  [`journal/trash/old.${stamp}.md`]: "old",
  "runs/planner/run-1/000001.jsonl": line,
  [`runs/trash/planner/run-2/000001.${stamp}.jsonl`]: line,
};

beforeAll(() => {
  writeUserFiles(join(folder.path, "data"), { alice: files });
  expect(call("memory", { command: "create", path: "/memories/note", content: "x" }, "--plugin", "stores").status).toBe(
    0,
  );
});

test("by default models get the tools of user-memory alone, and each named plugin adds its own", () => {
  expect(toolsOf()).toEqual(modelTools("user-memory"));
  for (const name of shippedNames()) expect(toolsOf("--plugin", name)).toEqual(modelTools(name));
  expect(toolsOf(...shippedFlags())).toEqual(shippedNames().flatMap(modelTools));
});

test("call and index use what the setting names", () => {
  expect(call("ReadUserMemory", { name: "a" })).toMatchObject({ status: 0 });
  expect(call("memory_read", { key: "k" }, "--plugin", "journal")).toMatchObject({ status: 0 });
  expect(memcell("index", ...alice).stdout).not.toContain("journal_summary");
  expect(memcell("index", ...alice, "--plugin", "journal").stdout).toContain("journal_summary");
});

test.for([
  { name: "call", args: ["call", "memory_write", ...alice, "--input", "{}"], says: "no such tool" },
  { name: "tools", args: ["tools", "--doc", "memory_write"], says: "no such tool" },
  { name: "a mount", args: ["index", ...alice, "--mount", "journal=elsewhere"], says: "no loaded tool has this scope" },
])("$name of what only another plugin has names the plugin and how to load it", ({ args, says }) => {
  const { status, stdout } = memcell(...args);
  expect(status).toBe(1);
  const printed = JSON.parse(stdout) as { error: { message: string }; hint: string };
  expect(printed.error.message).toContain(says);
  // The message is for a model.
  expect(printed.error.message).not.toContain("--plugin");
  expect(printed.hint).toMatch(/^The plugin "journal" has it .* createRuntime, or --plugin journal /);
});

test("runs and stores load their family, whatever the setting names", () => {
  for (const setting of [[], ["--plugin", "journal"], ["--plugin", "run-history"], ["--plugin", "stores"]]) {
    const runs = memcell("runs", "list", ...alice, "--json", ...setting);
    expect(JSON.parse(runs.stdout)).toMatchObject([{ agentId: "planner", runId: "run-1" }]);
    const cleared = memcell("stores", "clear", "bob", ...alice, ...setting);
    expect(cleared).toMatchObject({ status: 0, stdout: "Moved 0 entries to the trash\n" });
  }
});

test("doctor judges the files of every family", () => {
  const setting = ["--plugin", "user-memory"];
  const checked = memcell("doctor", ...alice, "--fix", ...setting);
  expect(checked).toMatchObject({ status: 0, stderr: "" });
  const bob = { "journal/notes.txt": "x", "memory/lost.md": entryText("lost"), "runs/p/r/000001.jsonl": "torn" };
  writeUserFiles(join(folder.path, "data"), { bob });
  const { stdout } = memcell("doctor", "--user", "bob", "--json", ...setting);
  const [{ findings }] = JSON.parse(stdout) as [{ findings: { path: string; problem: string }[] }];
  const scopes = new Set(findings.map(({ path }) => path.split("/")[0]));
  expect(scopes).toEqual(new Set(["journal", "memory", "runs"]));
  expect(findings.map(({ problem }) => problem)).not.toContain("not-inspected");
});

test("trash, export and import know the files of every family", () => {
  const listed = memcell("trash", "list", ...alice).stdout;
  for (const scope of ["memory", "journal", "runs"]) expect(listed).toContain(`(${scope})`);
  expect(memcell("export", ...alice, "all.zip")).toMatchObject({ status: 0, stderr: "" });
  const imported = memcell("import", "--user", "carol", "all.zip", "--yes");
  expect(imported).toMatchObject({ status: 0, stderr: "" });
  expect(imported.stdout).not.toContain("leave out ");
  expect(imported.stdout).toContain("create store/note_.md");
  const carols = readUserFiles(join(folder.path, "data"), "carol");
  expect(carols).toMatchObject({ "journal/MEMORY.md": files["journal/MEMORY.md"] });
  expect(Object.keys(carols)).toEqual(expect.arrayContaining(["memory/a.md", "runs/planner/run-1/000001.jsonl"]));
  const run = `planner/run-2/000001.${stamp}.jsonl`;
  expect(memcell("trash", "restore", run, "--scope", "runs", "--user", "carol")).toMatchObject({ status: 0 });
});

test("a plugin that the setting names takes the place of the package's of the same name", () => {
  copyFileSync(shippedPlugin("journal"), join(folder.path, "mine.wasm"));
  for (const args of [["doctor", ...alice], ["trash", "list", ...alice], ["runs", "list", ...alice], ["audit"]]) {
    const setting = args[0] === "audit" ? [] : ["--plugin", "./mine.wasm"];
    const env = { ...process.env, MEMCELL_PLUGINS: "./mine.wasm" };
    const options = { cwd: folder.path, encoding: "utf8", ...(args[0] === "audit" && { env }) } as const;
    const { stderr, stdout } = spawnSync(process.execPath, [program, ...args, ...setting], options);
    expect({ args, stderr, isRefused: stdout.includes("PLUGIN_REFUSED") }).toEqual({
      args,
      stderr: "",
      isRefused: false,
    });
    if (args[0] !== "audit") continue;
    expect(stdout.match(/^file .*$/gm)).toHaveLength(shippedNames().length);
    expect(stdout).toContain("mine.wasm: journal");
    expect(stdout).not.toContain("FAIL");
  }
});

test("maintenance leaves out what the policy does not name, warns of what it refuses, and tells whose files nobody judged", () => {
  const full = policyFor(shippedNames().map(shippedPlugin));
  const { stores, journal, ...others } = full.plugins as Record<string, { tools: Record<string, object> }>;
  expect(journal).toBeDefined();
  const policy = { ...full, plugins: { ...others, stores: { ...stores, sha256: ["0".repeat(64)] } } };
  writeFileSync(join(folder.path, "less.json"), JSON.stringify(policy));
  const { status, stdout, stderr } = memcell("doctor", ...alice, "--policy", "less.json");
  expect(status).toBe(1);
  expect(stdout).toContain("journal: no loaded plugin has this scope");
  // To load it would not help: it is refused.
  expect(stdout).toContain("store: no loaded plugin has this scope, so nothing has judged what its files say\n");
  expect(stdout).not.toContain("memory:");
  expect(stderr).toMatch(
    /^warn plugins: Cannot load plugin "stores\.wasm": its SHA-256 is [0-9a-f]{64}, the policy pins 0{64}; the content of its files is not looked after\n$/,
  );
  const listed = memcell("trash", "list", ...alice, "--policy", "less.json");
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining("(journal)") });
  // A command for one family does not go on without it.
  const refused = memcell("stores", "list", ...alice, "--policy", "less.json");
  expect(refused).toMatchObject({ status: 1, stdout: expect.stringContaining("PLUGIN_REFUSED") });
});

test("a plugin of one's own that offers models a tool of the same name does not keep the package's from maintenance", () => {
  const wasm = readFileSync(testPlugin("tally"));
  const manifest = manifestOf(wasm);
  const [tool] = manifest.tools;
  const own = join(folder.path, "own.wasm");
  writeFileSync(own, resealPlugin(wasm, withTool(manifest, tool?.name ?? "", { name: "memory" })));
  const policy = join(folder.path, "own.json");
  writeFileSync(policy, JSON.stringify(policyFor([...shippedNames().map(shippedPlugin), own])));
  const setting = ["--plugin", own, "--policy", policy];
  writeFileSync(join(folder.path, "data", "stores", storeIdOf("alice"), "entries", "Über.md"), "x");
  const { stdout, stderr } = memcell("doctor", ...alice, ...setting);
  expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining("store/"), stderr: "" });
  expect(stdout).not.toContain("no loaded plugin");
  // Models cannot have both.
  const refused = memcell("tools", ...setting, "--plugin", "stores");
  expect(refused.stdout).toContain('offers models the tool \\"memory\\" as well');
});
