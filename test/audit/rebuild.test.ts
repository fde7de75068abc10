/** `memcell audit --rebuild`: what a reviewer with a clone is told, and that nothing of the clone is changed. */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { copyClone, copyFromProject, copyPackage } from "../support/copied-clone.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const clone = join(folder.path, "clone");

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function rebuild(args: readonly string[] = [], { at = clone, env = {} } = {}): Outcome {
  const command = [join(at, "dist", "host", "cli", "main.js"), "audit", "--rebuild", ...args];
  // Not in the clone: what is rebuilt is told by where the command lies.
  return spawnSync(process.execPath, command, { cwd: folder.path, encoding: "utf8", env: { ...process.env, ...env } });
}

beforeAll(() => {
  copyClone(clone);
  copyFromProject(clone, ["dist/host", "dist/shared", "dist/plugins", "dist/sbom.json"]);
});

test("PASS: what is here is what the sources give, whatever the shell has set", { timeout: 240_000 }, () => {
  const before = treeFingerprint(clone);
  const { status, stdout, stderr } = rebuild([], { env: { ESBUILD_BINARY_PATH: "/bin/false", LC_ALL: "tr_TR.UTF-8" } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const lock = readFileSync(join(clone, "build", "plugins.lock.json"), "utf8");
  expect(stdout).toContain(/"sha256": "(\w+)"/.exec(lock)?.[1]);
  expect(stdout).toContain("user-memory 0.1.0");
  expect(stdout).toContain("\nPASS  ");
  expectUnchanged(before);
});

test("FAIL: lock, plugin file, stranger and list of components are each named", { timeout: 240_000 }, () => {
  const at = join(folder.path, "altered");
  copyClone(at);
  copyFromProject(at, ["dist/host", "dist/shared", "dist/plugins", "dist/sbom.json"]);
  const wasm = join(at, "dist", "plugins", "user-memory.wasm");
  const bytes = readFileSync(wasm);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(wasm, bytes);
  writeFileSync(join(at, "dist", "plugins", "stranger.wasm"), "\0asm");
  appendFileSync(join(at, "dist", "sbom.json"), " ");
  const lock = join(at, "build", "plugins.lock.json");
  const lockText = readFileSync(lock, "utf8");
  writeFileSync(lock, lockText.replace(/"bytes": \d+/, '"bytes": 1').replace("}\n  }", '},\n    "gone": 7\n  }'));
  const before = treeFingerprint(at);
  const { status, stdout } = rebuild(["--json"], { at });
  expect(status).toBe(1);
  const { verdict, deviations } = JSON.parse(stdout) as { verdict: string; deviations: string[] };
  expect(verdict).toBe("FAIL");
  expect(deviations).toEqual([
    "build/plugins.lock.json is not there, or has not its form",
    expect.stringMatching(/^Plugin file "stranger\.wasm" \(SHA-256 \w{64}\) is of no plugin that the sources give$/),
    expect.stringMatching(/^Plugin file "user-memory\.wasm" is not what the sources give: it is SHA-256 \w{64} \(/),
    "The list of components, dist/sbom.json, is not the one that the build writes",
  ]);
  expectUnchanged(before, at);
});

test("FAIL: a source that was changed is told by lock, plugin file and list", { timeout: 240_000 }, () => {
  const source = join(clone, "plugin", "user-memory", "family.ts");
  const original = readFileSync(source, "utf8");
  writeFileSync(source, original.replace('version: "0.1.0"', 'version: "0.1.9"'));
  rmSync(join(clone, "dist", "plugins", "user-memory.wasm"));
  const { status, stdout } = rebuild();
  writeFileSync(source, original);
  expect(status).toBe(1);
  expect(stdout).toContain("\nFAIL  3 differences\n");
  expect(stdout).toMatch(
    /Plugin "user-memory" is not the locked one: built SHA-256 \w+ \(version 0\.1\.9, \d+ bytes\), /,
  );
  expect(stdout).toContain('Plugin "user-memory" is built from the sources, and no plugin file is of its name\n');
  expect(stdout).toContain("dist/sbom.json");
});

test("sources that do not compile are told with what the compiler says", { timeout: 240_000 }, () => {
  const source = join(clone, "shared", "path.ts");
  const original = readFileSync(source, "utf8");
  appendFileSync(source, "\nexport const wrong: number = 'text';\n");
  const { status, stdout, stderr } = rebuild();
  writeFileSync(source, original);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("The compiler failed on the clone's sources:\n");
  expect(stderr).toContain("shared/path.ts");
  expect(stderr).not.toContain(folder.path);
  expect(readdirSync(join(clone, "dist")).filter((name) => name.startsWith("rebuild-"))).toEqual([]);
});

test("without installed packages it says what installs them", () => {
  const at = join(folder.path, "not-installed");
  copyClone(at);
  copyFromProject(at, ["dist/host", "dist/shared", "dist/plugins"]);
  rmSync(join(at, "node_modules", "binaryen"));
  const { status, stderr } = rebuild([], { at });
  expect(status).toBe(1);
  expect(stderr).toContain('The packages that the build needs are not installed: "npm ci" in the clone brings them\n');
});

test("an installed package has no sources, and says that a clone has", () => {
  const at = join(folder.path, "installed");
  mkdirSync(at);
  copyPackage(at);
  expect(existsSync(join(at, "dist", "sbom.json"))).toBe(true);
  const { status, stdout, stderr } = rebuild([], { at });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("This memcell has no sources beside it.");
  expect(stderr).toContain("works in a clone");
});

function expectUnchanged(before: ReturnType<typeof treeFingerprint>, at = clone): void {
  // The folder in which a rebuild was made has left its mark on the time of dist.
  const { dist: _, ...others } = before;
  const { dist: __, ...after } = treeFingerprint(at);
  expect(after).toEqual(others);
}
