/** `npm run new-family` creates a family that works without changes. If it refuses, it leaves no files behind. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PolicyFile } from "memcell";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { copyBuiltClone } from "../support/built-clone.ts";
import { copyFromProject } from "../support/copied-clone.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose](), 120_000);

const clone = join(folder.path, "clone");
const textOf = (path: string): string => readFileSync(join(clone, path), "utf8");
const policyFile = "host/plugins/policy/default-policy.json";

const filesBelow = (...folders: readonly string[]): string[] =>
  folders.flatMap((each) => readdirSync(join(clone, each), { recursive: true, encoding: "utf8" }).toSorted());

interface Ran {
  readonly status: number | null;
  readonly output: string;
}

function node(...args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: clone, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}
const newFamily = (...args: readonly string[]): Ran => node("dist/build/new-family/main.js", ...args);
const compile = (...args: readonly string[]): Ran => node("node_modules/typescript/bin/tsc", ...args);
const succeeds = { status: 0 };

beforeAll(() => {
  copyBuiltClone(clone, inject("runFolder"));
  // The tests in the copy ask git for the project's files.
  spawnSync("git", ["init", "--quiet", "."], { cwd: clone });
}, 120_000);

describe("refuses, and changes nothing:", () => {
  test.for([
    ["", "allowed are"],
    ["a--b", "allowed are"],
    ["a".repeat(33), "allowed are"],
    ["trash", "what was deleted"],
    ["nul", "device"],
    ["user-memory", "a family of this name"],
    ["memory", "Cannot name a family"],
    ["sample", "a plugin of the tests"],
    ["tally", "a plugin of the tests"],
    ["constructor", "every object"],
    ["echo", "a guest of the tests"],
    ["policy", "test/unit/policy.test.ts is there already"],
  ] as const)("%j", ([name, reason]) => {
    const sources = ["plugin", "test", "host"].map((each) => join(clone, each));
    const before = sources.map(treeFingerprint);
    const { status, output } = newFamily(name);
    expect(output).toContain(reason);
    expect(status).toBe(1);
    expect(sources.map(treeFingerprint)).toEqual(before);
  });

  test("a policy of another form, and prints the lines to add", () => {
    const policy = textOf(policyFile);
    writeFileSync(join(clone, policyFile), `${policy}\n`);
    const before = filesBelow("plugin", "test");
    const { status, output } = newFamily("notes");
    writeFileSync(join(clone, policyFile), policy);
    expect(status).toBe(1);
    expect(output).toContain('"notes_write": { "rights": ["write"], "scopes": ["notes"] }');
    expect(filesBelow("plugin", "test")).toEqual(before);
  });

  test.for([["--help"], [], ["a", "b"], ["--force", "a"]])("the command line %j prints the help", (args) => {
    const status = args[0] === "--help" ? 0 : 2;
    expect(newFamily(...args)).toMatchObject({ status, output: expect.stringContaining("npm run new-family NAME") });
  });
});

/** The name's length breaks lines in other places than the sample's name, and its dashes become underscores. */
const longName = "reading-list-of-a-whole-team";

test("a new family can be built, checked, tested and called without changes", { timeout: 300_000 }, () => {
  // The other families' built files have not changed.
  copyFromProject(clone, ["dist/plugins"]);
  const [policyBefore, sourcesBefore] = [textOf(policyFile), sourceTexts()];
  const laidDown = newFamily(longName);
  expect(laidDown).toMatchObject({ status: 0, output: expect.stringContaining('_team_read": { "rights": ["read"]') });
  const { plugins } = JSON.parse(textOf(policyFile)) as PolicyFile;
  const proposed = policyFor([join(clone, "dist", "plugins", `${longName}.wasm`)]);
  expect(plugins[longName]?.tools).toEqual(proposed.plugins[longName]?.tools);

  // Every command works: those of the other families and of the new one.
  const entry = { action: "upsert", name: "editor", type: "user", description: "Uses vim", body: "vim" };
  expect(call("UpdateUserMemory", entry)).toMatchObject(succeeds);
  const [write, read] = ["write", "read"].map((verb) => `${longName.replaceAll("-", "_")}_${verb}`) as [string, string];
  const named = ["--plugin", longName];
  expect(call(write, { name: "greeting", text: "Good morning" }, ...named)).toMatchObject(succeeds);
  // By default models do not get it, and programs are told of it.
  for (const [name, plugin, status, says] of [
    ["greeting", named, 0, '"Good morning"'],
    ["b", named, 1, "TEXT_NOT_FOUND"],
    ["greeting", [], 1, `--plugin ${longName} `],
  ] as const) {
    expect(call(read, { name }, ...plugin)).toMatchObject({ status, output: expect.stringContaining(says) });
  }

  // `owner/` and `serve/` show what else a host does with any family.
  const shown = node("dist/host/cli/main.js", "index", ...alice, "--plugin", "user-memory", ...named);
  expect(shown.output).toContain(`<${longName}>\n`);
  expect(shown.output).toContain("- greeting: Good morning\n");
  // Only the grant names the new family in `host/` and `shared/`.
  const { [policyFile]: policyAfter, ...othersAfter } = sourceTexts();
  expect({ ...othersAfter, [policyFile]: policyBefore }).toEqual(sourcesBefore);
  expect(policyAfter).not.toBe(policyBefore);

  expect(compile()).toMatchObject(succeeds);
  expect(node("node_modules/oxfmt/bin/oxfmt", "--check", ".").output).toContain(
    "All matched files use the correct format",
  );
  const linted = [`plugin/${longName}`, `test/unit/${longName}.test.ts`];
  expect(node("node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", ...linted)).toMatchObject(succeeds);
  expect(compile("-p", "plugin")).toMatchObject(succeeds);
  const own = runTests("reading_list", `test/unit/${longName}`, "test/conformance/conformance.test.ts");
  expect(own).toMatchObject({ status: 0, output: expect.stringContaining("_team_read/not") });
  expect(own.output).toContain("_team_inspect/");
  expect(runTests("", "test/tidy", "test/documents/contract", "test/documents/threats")).toMatchObject(succeeds);

  expect(newFamily(longName)).toMatchObject({ status: 1, output: expect.stringContaining("a family of this name") });
  expect(newFamily("reading")).toMatchObject({ status: 1, output: expect.stringContaining("would look like one") });
  expect(newFamily("notes")).toMatchObject(succeeds);
});

test("a family that cannot be built leaves no files behind", { timeout: 120_000 }, () => {
  const template = "test/plugins/sample/index.ts";
  const text = textOf(template);
  writeFileSync(join(clone, template), `${text}\nexport { missing } from "./missing.ts";\n`);
  const state = (): string[] => [
    ...filesBelow("plugin", "test", "dist/plugins"),
    textOf("build/plugins.lock.json"),
    textOf(policyFile),
  ];
  const before = state();
  const { status, output } = newFamily("diary");
  const after = state();
  writeFileSync(join(clone, template), text);
  expect({ status, output }).toMatchObject({
    status: 1,
    output: expect.stringContaining("Cannot build the new family"),
  });
  expect(after).toEqual(before);
});

/** The texts of `host/` and `shared/`, by path. */
function sourceTexts(): Record<string, string> {
  const files = ["host", "shared"].flatMap((each) => filesBelow(each).map((file) => `${each}/${file}`));
  return Object.fromEntries(files.filter((file) => /\.\w+$/.test(file)).map((file) => [file, textOf(file)]));
}

const alice = ["--user", "alice", "--data", "data"];
const call = (tool: string, input: object, ...setting: readonly string[]): Ran =>
  node("dist/host/cli/main.js", "call", tool, ...alice, ...setting, "--input", JSON.stringify(input));

/** Runs tests of the copy, without the builds that normally come first. */
function runTests(pattern: string, ...files: readonly string[]): Ran {
  const config = join(clone, "vitest.plain.ts");
  writeFileSync(config, 'export default { test: { include: ["test/**/*.test.ts"], testTimeout: 60_000 } };\n');
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", config, "--reporter=verbose"];
  const ran = node(...vitest, "-t", pattern, ...files);
  rmSync(config);
  return ran;
}
