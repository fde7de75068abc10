/**
 * `npm run build`, after the compiler: builds every plugin family into `dist/plugins/`, and writes what they are made of
 * (`dist/sbom.json`), which bytes they are (`build/plugins.lock.json`), and the tables in the pages of their tools.
 *
 * usage: node dist/build/main.js [--locked] [--plugins DIR] [--out DIR] [--fast]
 *
 * --locked   compares with the lock instead of writing it, and writes nothing when a plugin or a tool's page differs
 *
 * What is built from or to another folder, or fast, is not what is shipped and touches nothing of it. With `--out DIR`
 * alone, list and lock go into DIR.
 */
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { lockDifferences, lockText, parseLock } from "../shared/plugin-lock.ts";
import { buildPlugin } from "./build-plugin.ts";
import type { BuiltPlugin } from "./build-plugin.ts";
import { projectFolder } from "./bundle.ts";
import { readFamilies } from "./family.ts";
import { makeSbom } from "./sbom.ts";

const { values } = parseArgs({
  options: {
    locked: { type: "boolean", default: false },
    plugins: { type: "string" },
    out: { type: "string" },
    fast: { type: "boolean", default: false },
  },
});

const lockFile = join(projectFolder, "build", "plugins.lock.json");
const ofSources = values.plugins === undefined && !values.fast;
const shipped = ofSources && values.out === undefined;

if (values.locked && !shipped)
  throw new Error("--locked is about what is shipped: not with --plugins, --out or --fast");

const out = values.out ?? join(projectFolder, "dist", "plugins");
const plugins: BuiltPlugin[] = [];
const families = resolve(values.plugins ?? join(projectFolder, "plugin"));
for (const source of await readFamilies(families, { writePages: shipped && !values.locked })) {
  const startedMs = performance.now();
  const plugin = await buildPlugin(source, { optimise: !values.fast });
  plugins.push(plugin);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const [size, zipped] = [plugin.wasm, gzipSync(plugin.wasm)].map((bytes) => (bytes.length / 1e6).toFixed(2));
  const file = relative(projectFolder, join(out, `${plugin.manifest.name}.wasm`));
  console.log(`${file}  ${size} MB (${zipped} MB gzipped)  sha256 ${plugin.sha256}  ${seconds} s`);
}
const lock = lockText(
  Object.fromEntries(
    plugins.map(({ manifest: { name, version }, sha256, wasm }) => [name, { version, sha256, bytes: wasm.length }]),
  ),
);
const sbom = ofSources ? await makeSbom(plugins) : null;

if (values.locked && !(await isLocked())) {
  process.exitCode = 1;
} else {
  // The runtime loads, and the package ships, whatever lies there.
  if (shipped) await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const plugin of plugins) await writePlugin(plugin);
  if (sbom !== null) await writeFile(shipped ? join(out, "..", "sbom.json") : join(out, "sbom.json"), sbom);
  if (ofSources && !values.locked) await writeLock(shipped ? lockFile : join(out, basename(lockFile)));
  // The compiler writes plain files; npx runs the command as a program.
  if (shipped) await chmod(join(projectFolder, "dist", "host", "cli", "main.js"), 0o755);
}

async function isLocked(): Promise<boolean> {
  const present = await readFile(lockFile, "utf8").catch(() => null);
  const locked = present === null ? {} : parseLock(present);
  const differences = locked
    ? lockDifferences(parseLock(lock) ?? {}, locked)
    : ["build/plugins.lock.json has not the form that the build gives it"];
  for (const difference of differences) console.error(difference);
  if (differences.length === 0) return true;
  console.error(
    'Nothing was written. If the plugin was meant to change, "npm run build" writes build/plugins.lock.json, and it is ' +
      'committed with the change. If not, "npm ci" brings back the packages that the plugin is made with.',
  );
  return false;
}

async function writeLock(file: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => "")) === lock) return;
  await writeFile(file, lock);
  if (shipped) console.log("build/plugins.lock.json has changed: it is committed with what changed the plugin");
}

async function writePlugin({ manifest: { name }, wasm, sha256 }: BuiltPlugin): Promise<void> {
  const file = join(out, `${name}.wasm`);
  await writeFile(file, wasm);
  await writeFile(`${file}.sha256`, `${sha256}  ${name}.wasm\n`);
}
