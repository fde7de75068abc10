/** Which plugins each command loads: the setting for models, the own family of a command, all for maintenance. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore, storeIdOf } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { memcell as run } from "../stage/command.ts";
import { entryText, indexLine } from "../support/memory-files.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin, withTool } from "../support/reseal-plugin.ts";
import { shippedFlags, shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { commandStage, errorOf } from "./command-stage.ts";

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

const at = commandStage({ alice: files });
afterAll(() => at[Symbol.dispose]());
const memcell = (...args: readonly string[]) => run(args, { cwd: at.path });
const alice = ["--user", "alice"];
const call = (tool: string, input: object, ...args: readonly string[]) =>
  memcell("call", tool, ...alice, "--input", JSON.stringify(input), ...args);

const namesIn = (stdout: string): string[] => (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
const toolsOf = async (...args: readonly string[]): Promise<string[]> =>
  namesIn((await memcell("tools", ...args)).stdout);
const modelTools = (plugin: string): string[] =>
  manifestOf(readFileSync(shippedPlugin(plugin)))
    .tools.filter(({ audience }) => audience === "model")
    .map(({ name }) => name);

beforeAll(async () => {
  const note = { command: "create", path: "/memories/note", content: "x" };
  expect(await call("memory", note, "--plugin", "stores")).toMatchObject({ status: 0 });
  copyFileSync(shippedPlugin("journal"), at.place("mine.wasm"));
  // Not to be loaded instead of the package's.
  writeFileSync(at.place("journal"), "none");
});

test("by default models get the tools of user-memory alone, and each plugin of the package is loaded by its name", async () => {
  expect(await toolsOf()).toEqual(modelTools("user-memory"));
  for (const name of shippedNames()) expect(await toolsOf("--plugin", name)).toEqual(modelTools(name));
  expect(await toolsOf(...shippedFlags())).toEqual(shippedNames().flatMap(modelTools));
  const ofVariable = await run(["tools"], { cwd: at.path, env: { ...process.env, MEMCELL_PLUGINS: "journal" } });
  expect(namesIn(ofVariable.stdout)).toEqual(modelTools("journal"));
  writeFileSync(at.place("named.json"), '{"plugins":["journal"]}', { mode: 0o600 });
  expect(await toolsOf("--config", "named.json")).toEqual(modelTools("journal"));
});

test.for(["journals", "constructor", "x".repeat(200)])("%s is refused as an unknown plugin", async (name) => {
  const message = expect.stringMatching(
    /the package has no plugin of this name; did you mean "[a-z-]+"\? Expected journal, .*user-memory.*, or a file, such as "/,
  ) as string;
  const refusal = { code: "PLUGIN_REFUSED", message };
  await expect(createRuntime({ store: memoryStore(), plugins: [name] })).rejects.toMatchObject(refusal);
  expect(errorOf(await memcell("tools", "--plugin", name, "--json"))).toMatchObject(refusal);
});

test("a name with a dot or a slash is a file, and an audit takes names and files", async () => {
  for (const file of ["./none", "none.wasm", "journal/"]) {
    expect(errorOf(await memcell("tools", "--plugin", file, "--json")).message).toContain("it cannot be read");
  }
  const { status, stdout } = await memcell("audit", "journal");
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("journal.wasm") });
  expect(stdout).not.toContain("user-memory.wasm");
  expect(errorOf(await memcell("audit", "jornal", "--json")).code).toBe("PLUGIN_REFUSED");
  expect((await memcell("audit", "mine.wasm")).stdout).toContain("mine.wasm: journal");
});

test("runs and stores load their family, whatever the setting names, and runs is refused under a policy without it", async () => {
  for (const setting of [[], ["--plugin", "journal"], ["--plugin", "run-history"]]) {
    const runs = await memcell("runs", "list", ...alice, "--json", ...setting);
    expect(JSON.parse(runs.stdout)).toMatchObject([{ agentId: "planner", runId: "run-1" }]);
    const cleared = await memcell("stores", "clear", "bob", ...alice, ...setting);
    expect(cleared).toMatchObject({ status: 0, stdout: "Moved 0 entries to the trash\n" });
  }
  writeFileSync(at.place("journal.json"), JSON.stringify(policyFor([shippedPlugin("journal")])));
  const alone = ["--plugin", "journal", "--policy", "journal.json"];
  expect(errorOf(await memcell("runs", "list", ...alice, ...alone, "--json"))).toMatchObject({
    code: "TOOL_UNKNOWN",
    message: expect.stringContaining('does not name the plugin "run-history"'),
  });
});

test("doctor, trash, export and import know the files of every family", async () => {
  expect(await memcell("doctor", ...alice, "--fix")).toMatchObject({ status: 0, stderr: "" });
  const torn = { "journal/notes.txt": "x", "memory/lost.md": entryText("lost"), "runs/p/r/000001.jsonl": "torn" };
  writeUserFiles(at.dataDir, { bob: torn });
  const { stdout } = await memcell("doctor", "--user", "bob", "--json");
  const [{ findings }] = JSON.parse(stdout) as [{ findings: { path: string; problem: string }[] }];
  const scopes = new Set(findings.map(({ path }) => path.split("/")[0]));
  expect(scopes).toEqual(new Set(["journal", "memory", "runs"]));
  expect(findings.map(({ problem }) => problem)).not.toContain("not-inspected");

  const listed = (await memcell("trash", "list", ...alice)).stdout;
  for (const scope of ["memory", "journal", "runs"]) expect(listed).toContain(`  ${scope}  `);
  expect(await memcell("export", ...alice, "all.zip")).toMatchObject({ status: 0, stderr: "" });
  const imported = await memcell("import", "--user", "carol", "all.zip", "--yes");
  expect(imported.stdout).not.toContain("leave out ");
  expect(at.files("carol")).toMatchObject(files);
});

test("a plugin that the setting names takes the place of the package's of the same name", async () => {
  for (const command of ["doctor", "trash list", "runs list"]) {
    const { stdout, stderr } = await memcell(...command.split(" "), ...alice, "--plugin", "./mine.wasm");
    expect({ command, stderr }).toEqual({ command, stderr: "" });
    expect(stdout).not.toContain("PLUGIN_REFUSED");
  }
  const env = { ...process.env, MEMCELL_PLUGINS: "./mine.wasm" };
  const { stdout } = await run(["audit"], { cwd: at.path, env });
  expect(stdout.match(/^file .*$/gm)).toHaveLength(shippedNames().length);
  expect(stdout).toContain("mine.wasm: journal");
  expect(stdout).not.toContain("FAIL");
});

test("under a policy that names less, maintenance leaves out what it does not name, warns of what it refuses, and tells whose files nobody judged", async () => {
  const full = policyFor(shippedNames().map(shippedPlugin));
  const { stores, journal, ...others } = full.plugins as Record<string, { tools: Record<string, object> }>;
  expect(journal).toBeDefined();
  const less = { ...full, plugins: { ...others, stores: { ...stores, sha256: ["0".repeat(64)] } } };
  writeFileSync(at.place("less.json"), JSON.stringify(less));
  const { status, stdout, stderr } = await memcell("doctor", ...alice, "--policy", "less.json");
  expect(status).toBe(1);
  expect(stdout).toContain("journal: no loaded plugin has this scope");
  // To load it would not help: it is refused.
  expect(stdout).toContain("store: no loaded plugin has this scope, so nothing has judged what its files say\n");
  expect(stdout).not.toContain("memory:");
  expect(stderr).toMatch(
    /^warn plugins: Cannot load plugin "stores\.wasm": its SHA-256 is [0-9a-f]{64}, the policy pins 0{64}; the content of its files is not looked after\n$/,
  );
  const listed = await memcell("trash", "list", ...alice, "--policy", "less.json");
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining("  journal  ") });
  // What needs the plugin does not go on without it.
  expect(errorOf(await memcell("stores", "clear", "bob", ...alice, "--policy", "less.json", "--json")).code).toBe(
    "TOOL_UNKNOWN",
  );
});

test("a plugin of one's own that offers models a tool of the same name does not keep the package's from maintenance", async () => {
  const wasm = readFileSync(testPlugin("tally"));
  const manifest = manifestOf(wasm);
  const [tool] = manifest.tools;
  const own = at.place("own.wasm");
  writeFileSync(own, resealPlugin(wasm, withTool(manifest, tool?.name ?? "", { name: "memory" })));
  writeFileSync(at.place("own.json"), JSON.stringify(policyFor([...shippedNames().map(shippedPlugin), own])));
  const setting = ["--plugin", own, "--policy", "own.json"];
  const entries = join(at.dataDir, "stores", storeIdOf("alice"), "entries");
  mkdirSync(entries, { recursive: true });
  writeFileSync(join(entries, "Über.md"), "x");
  const { stdout, stderr } = await memcell("doctor", ...alice, ...setting);
  expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining("store/"), stderr: "" });
  expect(stdout).not.toContain("no loaded plugin");
  // Models cannot have both.
  const refused = await memcell("tools", ...setting, "--plugin", "stores");
  expect(refused.stdout).toContain('offers models the tool \\"memory\\" as well');
});
