/** The committed sources give the committed bytes, independent of place, time and user. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { lockText, parseLock } from "../../shared/plugin-lock.ts";
import { isLong } from "../stage/seed.ts";
import { copyBuiltClone, foreignEnvironment, oddFolder } from "../support/built-clone.ts";
import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { treeFingerprint } from "../support/tree-fingerprint.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose](), 120_000);

const clone = join(folder.path, oddFolder);
const fileOf = (path: string): Buffer => readFileSync(join(clone, path));
const projectFileOf = (path: string): Buffer => readFileSync(new URL(`../../${path}`, import.meta.url));
const lockFile = join(clone, "build", "plugins.lock.json");

const env = foreignEnvironment(folder.path);

function build(args: readonly string[], node = process.execPath): { status: number | null; output: string } {
  const command = ["umask 077; exec", ...[node, "dist/build/main.js", ...args].map((each) => `"${each}"`)].join(" ");
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: clone, env, encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

beforeAll(() => {
  copyBuiltClone(clone, inject("runFolder"));
  mkdirSync(join(folder.path, "tmp"));
}, 120_000);

const other = "0".repeat(64);

/** Leaves only the first plugin in the lock, with another hash. Returns the plugin and its hash. */
function alterLock(): { name: string; hash: string } {
  const [first] = Object.entries(parseLock(projectFileOf("build/plugins.lock.json").toString()) ?? {});
  if (!first) throw new Error("The lock names no plugin");
  const [name, locked] = first;
  writeFileSync(lockFile, lockText({ [name]: { ...locked, sha256: other } }));
  return { name, hash: locked.sha256 };
}

/** Builds one family of a folder, while the others are elsewhere: what one shows is not built with all. */
function buildOnly(name: string, families: string, args: readonly string[]): ReturnType<typeof build> {
  const [place, aside] = [join(clone, families), join(folder.path, "aside", families)];
  const others = readdirSync(place).filter((each) => each !== name && existsSync(join(place, each, "family.ts")));
  mkdirSync(aside, { recursive: true });
  for (const each of others) renameSync(join(place, each), join(aside, each));
  const built = build(args);
  for (const each of others) renameSync(join(aside, each), join(place, each));
  return built;
}

/** Of one family; `verify-build.slow.test.ts` builds all. */
test("another folder, umask, locale, time zone, home and user give the same bytes", { timeout: 240_000 }, () => {
  const { name, hash } = alterLock();
  mkdirSync(join(clone, "dist", "plugins"));
  writeFileSync(join(clone, "dist", "plugins", "stranger.wasm"), "left over");
  expect(buildOnly(name, "plugin", [])).toMatchObject({
    status: 0,
    output: expect.stringContaining("plugins.lock.json has changed"),
  });
  const plugin = `dist/plugins/${name}.wasm`;
  expect(fileOf(plugin).equals(projectFileOf(plugin))).toBe(true);
  expect(parseLock(fileOf("build/plugins.lock.json").toString())).toMatchObject({ [name]: { sha256: hash } });
  expect(existsSync(join(clone, "dist", "plugins", "stranger.wasm"))).toBe(false);
});

test("a plugin that differs from the lock is named with both hashes and is not written", { timeout: 240_000 }, () => {
  const { name, hash } = alterLock();
  const before = treeFingerprint(join(clone, "dist"));
  const { status, output } = buildOnly(name, "plugin", ["--locked"]);
  expect(status).toBe(1);
  expect(output).toContain(`Plugin "${name}" is not the locked one: built SHA-256 ${hash}`);
  expect(output).toContain(`locked SHA-256 ${other}`);
  expect(output).toContain('"npm run build" writes build/plugins.lock.json');
  expect(treeFingerprint(join(clone, "dist"))).toEqual(before);
});

test("a build of other plugins does not change the lock", { timeout: 240_000 }, () => {
  alterLock();
  const args = ["--plugins", "test/plugins", "--out", "dist/test-plugins", "--fast"];
  expect(buildOnly("sample", "test/plugins", args).status).toBe(0);
  expect(fileOf("build/plugins.lock.json").toString()).toContain(other);
  const files = ["sample.d.ts", "sample.wasm", "sample.wasm.sha256"];
  expect(readdirSync(join(clone, "dist", "test-plugins"))).toEqual(files);
});

test.for([["--out", "elsewhere"], ["--fast"], ["--plugins", "test/plugins"]])("--locked is refused with %s", (args) => {
  const { status, output } = build(["--locked", ...args]);
  expect(status).toBe(1);
  expect(output).toContain("--locked is about what is shipped");
});

/** Other release lines of Node are npm packages of 50 MB each: `npm run test:long` fetches them. */
const otherNodes = isLong ? ["22", "24"] : [];
test.for(otherNodes)("Node %s gives the same plugin", { timeout: 600_000 }, (line, context) => {
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = join(folder.path, `node-${line}`);
  mkdirSync(prefix);
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${line}`];
  const installed = spawnSync("npm", args, { cwd: prefix, encoding: "utf8" });
  if (installed.status !== 0) skipWithReason(context, `npm has no ${name}@${line}: ${installed.stderr}`);
  const node = join(prefix, "node_modules", name, "bin", "node");
  expect(spawnSync(node, ["--version"], { encoding: "utf8" }).stdout).toMatch(new RegExp(`^v${line}\\.`));
  expect(build(["--out", `dist/node-${line}`], node)).toMatchObject({ status: 0 });
  for (const each of shippedNames()) {
    const built = fileOf(`dist/node-${line}/${each}.wasm`);
    expect(built.equals(projectFileOf(`dist/plugins/${each}.wasm`)), each).toBe(true);
  }
  expect(fileOf(`dist/node-${line}/plugins.lock.json`).equals(projectFileOf("build/plugins.lock.json"))).toBe(true);
});
