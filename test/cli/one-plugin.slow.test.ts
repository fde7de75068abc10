/** Loading one plugin of the package by its name. Functions that need another plugin are then reported as missing. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { readUserFiles, writeUserFiles } from "../support/user-files.ts";

const program = fileURLToPath(new URL("../../dist/host/cli/main.js", import.meta.url));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const user = ["--user", "alice"];

function memcell(args: readonly string[], { env = {}, cwd = folder.path, input = "" } = {}) {
  const options = { cwd, env: { ...process.env, ...env }, encoding: "utf8", input } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options);
  return { status, stdout, stderr };
}

const toolsOf = (stdout: string): string[] => (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);

const written = { key: "editor", content: "Helix" };

test.for([
  { way: "flag", args: ["--plugin", "journal"], env: {}, file: null },
  { way: "variable", args: [], env: { MEMCELL_PLUGINS: "journal" }, file: null },
  { way: "file", args: [], env: {}, file: { plugins: ["journal"] } },
])("a plugin of the package is loaded by its name, given by a $way", ({ way, args, env, file }) => {
  using place = temporaryFolder();
  if (file) writeFileSync(join(place.path, "memcell.config.json"), JSON.stringify(file));
  // A file of that name must not be loaded instead.
  writeFileSync(join(place.path, "journal"), "none");
  const { status, stdout } = memcell(["tools", ...args, ...(file ? ["--config", "."] : [])], { env, cwd: place.path });
  expect({ way, status, tools: toolsOf(stdout) }).toMatchObject({
    status: 0,
    tools: expect.arrayContaining(["memory_read"]),
  });
  expect(toolsOf(stdout)).not.toContain("ReadUserMemory");
});

test("names and files can be mixed", async () => {
  await using runtime = await createRuntime({
    dataDir: join(folder.path, "mixed"),
    plugins: ["journal", "user-memory"],
  });
  expect(runtime.tools().map(({ name }) => name)).toEqual(expect.arrayContaining(["memory_write", "ReadUserMemory"]));
  // The name is found, and the policy applies to the file.
  const lines: string[] = [];
  await using beside = await createRuntime({
    dataDir: join(folder.path, "beside"),
    plugins: ["journal", testPlugin("puppet")],
    onLog: ({ text }) => void lines.push(text),
  });
  expect(beside.tools().every(({ name }) => name.startsWith("memory_"))).toBe(true);
  expect(lines).toEqual([expect.stringContaining('does not name the plugin "puppet", so it grants it nothing')]);
});

test.for(["journals", "Journal", "Run_History", "constructor", "a-b-c", "x".repeat(200)])(
  "%s is refused as an unknown plugin",
  async (name) => {
    const refused = createRuntime({ dataDir: join(folder.path, "none"), plugins: [name] });
    await expect(refused).rejects.toMatchObject({
      code: "PLUGIN_REFUSED",
      message: expect.stringMatching(
        /the package has no plugin of this name; did you mean "[a-z-]+"\? Expected journal, .*user-memory.*, or a file, such as "/,
      ),
    });
    const { status, stdout } = memcell(["tools", "--plugin", name]);
    expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({
      status: 1,
      error: { code: "PLUGIN_REFUSED" },
    });
  },
);

test.for(["./journal", "journal.wasm", "journal/"])("%s is a missing file", async (file) => {
  const refused = createRuntime({ dataDir: join(folder.path, "none"), plugins: [file] });
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining("it cannot be read") });
});

test("an audit takes a name as well, and reports an unknown one", () => {
  const { status, stdout } = memcell(["audit", "journal"]);
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("journal.wasm") });
  expect(stdout).not.toContain("user-memory.wasm");
  expect(memcell(["audit", "jornal"])).toMatchObject({ status: 1, stdout: expect.stringContaining("PLUGIN_REFUSED") });
});

/** Nothing but the journal may be loaded, not even for maintenance. */
const policy = join(folder.path, "journal.json");
writeFileSync(policy, JSON.stringify(policyFor([shippedPlugin("journal")])));

/** Runs a command with only the journal. */
const alone = (...args: string[]) => memcell([...args, "--plugin", "journal", "--policy", policy]);

test("without user-memory everything else works, and missing functions are reported", () => {
  const call = alone("call", "memory_write", ...user, "--input", JSON.stringify(written));
  expect(call).toMatchObject({ status: 0, stderr: "" });
  // The journal has its own index.
  expect(alone("index", ...user)).toMatchObject({ status: 0, stderr: "" });
  expect(alone("trash", "list", ...user)).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(alone("doctor")).toEqual({ status: 0, stdout: "1 user checked\n", stderr: "" });
  const stranger = alone("call", "ReadUserMemory", ...user, "--input", '{"name":"a"}');
  expect(JSON.parse(stranger.stdout)).toMatchObject({
    error: { code: "TOOL_UNKNOWN", message: expect.stringContaining("allowed: memory_write, ") },
  });
  const exported = alone("export", ...user, "alice.zip");
  expect(exported).toMatchObject({ status: 0, stdout: expect.stringMatching(/^1 file, /) });
  const nobodys = alone("export", "--user", "nobody", "nobody.zip");
  expect(nobodys.status).toBe(1);
  expect(JSON.parse(nobodys.stdout)).toMatchObject({
    error: { code: "ENTRY_NOT_FOUND", message: "Cannot export the memory: this user has none" },
  });
  expect(existsSync(join(folder.path, "nobody.zip"))).toBe(false);
});

test("an export works without the plugin of its files; an import leaves them out, and a restore is refused", () => {
  const dataDir = join(folder.path, "data");
  writeUserFiles(dataDir, {
    bob: { "memory/a.md": "a", "journal/MEMORY.md": "b", "memory/trash/x.20200102T030405678Z.md": "c" },
  });
  const before = readUserFiles(dataDir, "bob");
  expect(alone("doctor", "--user", "bob")).toMatchObject({
    status: 1,
    stdout: expect.stringContaining(
      "memory: no loaded plugin has this scope, so nothing has judged what its files say\n",
    ),
  });
  const exported = alone("export", "--user", "bob", "bob.zip");
  expect(exported).toMatchObject({
    status: 0,
    stdout: "3 files, 3 bytes written\n",
  });
  expect(readFileSync(join(folder.path, "bob.zip"), "latin1")).toContain("journal/MEMORY.md");
  const imported = alone("import", "--user", "carol", "bob.zip", "--yes");
  expect(imported.status).toBe(0);
  expect(imported.stdout).toContain("leave out memory: no loaded plugin has this scope\n");
  expect(readUserFiles(dataDir, "carol")).toEqual({ "journal/MEMORY.md": "b" });
  const memoryAlone = alone("import", "--user", "dora", "bob.zip", "--scope", "memory", "--yes");
  expect(memoryAlone.status).toBe(1);
  expect(memoryAlone.stdout).toContain("refuse memory: no loaded plugin has this scope\n");
  const restored = alone("trash", "restore", "x.20200102T030405678Z.md", "--user", "bob");
  expect(restored.status).toBe(1);
  expect(JSON.parse(restored.stdout)).toMatchObject({
    error: { code: "TOOL_UNKNOWN", message: expect.stringContaining("no loaded plugin has the scope") },
  });
  expect(readUserFiles(dataDir, "bob")).toEqual(before);
  expect(existsSync(join(dataDir, "users", "dora"))).toBe(false);
});
