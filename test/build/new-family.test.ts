/** `npm run new-family`: what it lays down is a family that works as it is, and what it refuses leaves no trace. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { copyClone } from "../support/copied-clone.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose](), 120_000);

const clone = join(folder.path, "clone");
const textOf = (path: string): string => readFileSync(join(clone, path), "utf8");
const policyFile = "host/policy/default-policy.json";

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
  copyClone(clone);
  // Its tests ask git which files are the project's.
  spawnSync("git", ["init", "--quiet", "."], { cwd: clone });
  expect(compile()).toMatchObject(succeeds);
}, 120_000);

describe("refuses, and leaves everything as it was:", () => {
  test.for([
    ["", "allowed are"],
    ["Notes", "allowed are"],
    ["notes_1", "allowed are"],
    ["a--b", "allowed are"],
    ["a-", "allowed are"],
    ["../notes", "allowed are"],
    ["a".repeat(33), "allowed are"],
    ["trash", "what was deleted"],
    ["nul", "device"],
    ["user-memory", "a family of this name"],
    ["memory", "keeps its files in this scope"],
    ["sample", "a plugin of the tests"],
    ["puppet", "a plugin of the tests"],
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

  test("a policy of another form, with the lines that belong there", () => {
    const policy = textOf(policyFile);
    writeFileSync(join(clone, policyFile), `${policy}\n`);
    const before = filesBelow("plugin", "test");
    const { status, output } = newFamily("notes");
    writeFileSync(join(clone, policyFile), policy);
    expect(status).toBe(1);
    expect(output).toContain('"notes_write": { "rights": ["write"], "scopes": ["notes"] }');
    expect(filesBelow("plugin", "test")).toEqual(before);
  });

  test.for([[], ["a", "b"], ["--force", "a"]])("the command line %j, with the help", (args) => {
    expect(newFamily(...args)).toMatchObject({ status: 2, output: expect.stringContaining("npm run new-family NAME") });
  });
});

test("--help tells how it is called", () => {
  expect(newFamily("--help")).toMatchObject({ status: 0, output: expect.stringContaining("Exit codes") });
});

test("two families are laid down, built, checked, tested and called as they are", { timeout: 240_000 }, () => {
  const first = newFamily("notes");
  expect(first).toMatchObject({ status: 0, output: expect.stringContaining('"notes_read": { "rights": ["read"]') });
  // One that breaks lines elsewhere, and has a dash to become an underscore.
  expect(newFamily("reading-list-of-a-whole-team")).toMatchObject(succeeds);
  expect(newFamily("notes")).toMatchObject({ status: 1, output: expect.stringContaining("a family of this name") });

  expect(node("node_modules/oxfmt/bin/oxfmt", "--check", ".")).toMatchObject(succeeds);
  expect(
    node("node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "plugin", "test/unit"),
  ).toMatchObject(succeeds);
  expect(compile("-p", "plugin")).toMatchObject(succeeds);
  expect(compile()).toMatchObject(succeeds);
  expect(node("dist/build/main.js")).toMatchObject(succeeds);
  expect(grantsOf("notes", "reading-list-of-a-whole-team")).toEqual(
    proposedFor("notes", "reading-list-of-a-whole-team"),
  );

  const own = runTests("notes_|reading_list_of_a_whole_team_", "test/unit", "test/conformance/conformance.test.ts");
  expect(own).toMatchObject({ status: 0, output: expect.stringMatching(/notes_read\/not-found[^]*reading_list/) });
  expect(runTests("", "test/tidy", "test/documents/contract", "test/documents/threats")).toMatchObject(succeeds);

  const call = (tool: string, input: object): Ran =>
    node("dist/host/cli/main.js", "call", tool, "--user", "alice", "--data", "data", "--input", JSON.stringify(input));
  expect(call("notes_write", { name: "a", text: "kept" })).toMatchObject(succeeds);
  expect(call("notes_read", { name: "a" })).toMatchObject({ status: 0, output: expect.stringContaining('"kept"') });
  const other = call("reading_list_of_a_whole_team_read", { name: "a" });
  expect(other).toMatchObject({ status: 1, output: expect.stringContaining("TEXT_NOT_FOUND") });
});

/** Runs tests of the copy. What its tests would build first is there, or not asked for. */
function runTests(pattern: string, ...files: readonly string[]): Ran {
  const config = join(clone, "vitest.plain.ts");
  writeFileSync(config, 'export default { test: { include: ["test/**/*.test.ts"], testTimeout: 60_000 } };\n');
  const ran = node(
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    config,
    "--reporter=verbose",
    "-t",
    pattern,
    ...files,
  );
  rmSync(config);
  return ran;
}

interface Policy {
  readonly plugins: Record<string, { readonly tools: unknown } | undefined>;
}

function grantsOf(...names: readonly string[]): unknown[] {
  const { plugins } = JSON.parse(textOf(policyFile)) as Policy;
  return names.map((name) => plugins[name]?.tools);
}

function proposedFor(...names: readonly string[]): unknown[] {
  const { plugins } = policyFor(names.map((name) => join(clone, "dist", "plugins", `${name}.wasm`))) as Policy;
  return names.map((name) => plugins[name]?.tools);
}
