/**
 * `npm run build`, after the compiler: builds every plugin family into `dist/plugins/`, with TypeScript types of its
 * tools for programs that call them. Also writes the list of components (`dist/sbom.json`), the plugins' hashes
 * (`build/plugins.lock.json`), and the tables in the tools' pages.
 *
 * usage: node dist/build/main.js [--locked | --only NAME] [--plugins DIR] [--out DIR] [--fast]
 *
 * --locked   compares with the lock instead of writing it, and writes nothing if a plugin or a tool's page differs
 * --only     builds one family, to work on it, and writes only its line of the lock. It does not build the others or
 *            write the list of components, so run the whole build before a commit
 *
 * A build with `--plugins`, `--out` or `--fast` writes none of the shipped files. With `--out DIR` alone, the list and
 * the lock go into DIR.
 */
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { lockDifferences, lockText, parseLock } from "../shared/plugin-lock.ts";
import type { LockedPlugins } from "../shared/plugin-lock.ts";
import { buildPlugin } from "./build-plugin.ts";
import type { BuiltPlugin } from "./build-plugin.ts";
import { projectFolder } from "./bundle.ts";
import { readFamilies } from "./family.ts";
import type { FamilySource } from "./family.ts";
import { packageTypes } from "./package-types.ts";
import { makeSbom } from "./sbom.ts";
import { typeDeclarations, withExactInputs } from "./type-declarations.ts";

const { values } = parseArgs({
  options: {
    locked: { type: "boolean", default: false },
    only: { type: "string" },
    plugins: { type: "string" },
    out: { type: "string" },
    fast: { type: "boolean", default: false },
  },
});

const lockFile = join(projectFolder, "build", "plugins.lock.json");
const ofSources = values.plugins === undefined && !values.fast;
const ofProject = ofSources && values.out === undefined;
const shipped = ofProject && values.only === undefined;

if (values.locked && !shipped)
  throw new Error("--locked is about what is shipped: do not use it with --only, --plugins, --out or --fast");

const out = values.out ?? join(projectFolder, "dist", "plugins");
const families = resolve(values.plugins ?? join(projectFolder, "plugin"));
const sources = await readFamilies(families, { writePages: ofProject && !values.locked });
const plugins = await buildAll(sources.filter(({ family }) => family.name === (values.only ?? family.name)));
if (plugins.length === 0) throw new Error(`Cannot build plugin: ${families} has no family ${values.only ?? ""}`);
const built = Object.fromEntries(
  plugins.map(({ manifest: { name, version }, sha256, wasm }) => [name, { version, sha256, bytes: wasm.length }]),
);
const lock = lockText(values.only === undefined ? built : { ...(await readLock()), ...built });
const sbom = ofSources && values.only === undefined ? await makeSbom(plugins) : null;

if (values.locked && !(await isLocked())) {
  process.exitCode = 1;
} else {
  // The runtime loads every file in this folder, and the package ships it.
  if (shipped) await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const plugin of plugins) await writePlugin(plugin);
  const names = plugins.map(({ manifest: { name } }) => name);
  if (shipped) await writeFile(join(out, "..", "index.d.ts"), packageTypes(names));
  if (sbom !== null) await writeFile(shipped ? join(out, "..", "sbom.json") : join(out, "sbom.json"), sbom);
  if (ofSources && !values.locked) await writeLock(ofProject ? lockFile : join(out, basename(lockFile)));
  // The compiler does not make the file executable, but npx runs it as a program.
  if (shipped) await chmod(join(projectFolder, "dist", "host", "cli", "main.js"), 0o755);
}

type Built = BuiltPlugin & { readonly types: string };

/** As many at a time as there are cores: most of the time is the optimiser's, which uses one. */
async function buildAll(wanted: readonly FamilySource[]): Promise<Built[]> {
  const made: Built[] = [];
  const left = [...wanted.entries()];
  const takeTurns = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) made[next[0]] = await buildOne(next[1]);
  };
  const takers = Array.from({ length: Math.min(availableParallelism(), 4) }, takeTurns);
  // The others end first, and remove what they have made on the way.
  const failed = (await Promise.allSettled(takers)).find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return made;
}

async function buildOne(source: FamilySource): Promise<Built> {
  const startedMs = performance.now();
  const plugin = await buildPlugin(source, { optimise: !values.fast });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const [size, zipped] = [plugin.wasm, gzipSync(plugin.wasm)].map((bytes) => (bytes.length / 1e6).toFixed(2));
  const file = relative(projectFolder, join(out, `${plugin.manifest.name}.wasm`));
  console.log(`${file}  ${size} MB (${zipped} MB gzipped)  sha256 ${plugin.sha256}  ${seconds} s`);
  return { ...plugin, types: typeDeclarations(withExactInputs(plugin.manifest, source.family)) };
}

/** Returns `null` when the lock does not have its form, and no plugins when it is missing. */
async function readLock(): Promise<LockedPlugins | null> {
  const present = await readFile(lockFile, "utf8").catch(() => null);
  return present === null ? {} : parseLock(present);
}

async function isLocked(): Promise<boolean> {
  const locked = await readLock();
  const differences = locked
    ? lockDifferences(parseLock(lock) ?? {}, locked)
    : ["build/plugins.lock.json does not have the form that the build writes"];
  for (const difference of differences) console.error(difference);
  if (differences.length === 0) return true;
  console.error(
    'Nothing was written. If you meant to change the plugin, "npm run build" writes build/plugins.lock.json: commit it ' +
      'with the change. If not, "npm ci" installs the packages that the plugin is built with.',
  );
  return false;
}

async function writeLock(file: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => "")) === lock) return;
  await writeFile(file, lock);
  if (ofProject) console.log("build/plugins.lock.json has changed: commit it with the change of the plugin");
}

async function writePlugin({ manifest: { name }, wasm, sha256, types }: Built): Promise<void> {
  const file = join(out, `${name}.wasm`);
  await writeFile(join(out, `${name}.d.ts`), types);
  await writeFile(file, wasm);
  await writeFile(`${file}.sha256`, `${sha256}  ${name}.wasm\n`);
}
