/**
 * Steps 4 and 5: merge the engine image and the glue into one module, reduce it to what its exports reach, and optimise
 * it. All three tools are binaryen's and run as the scripts in its package.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { projectFolder } from "./bundle.ts";

const run = promisify(execFile);

const binaryenFolder = dirname(fileURLToPath(import.meta.resolve("binaryen")));
const glueFolder = join(projectFolder, "build", "glue");

/**
 * The features that the engine uses; every SDK's runtime has had them for years. With all features, binaryen would
 * write an import section that Node 20 cannot read.
 */
const features = [
  "bulk-memory",
  "bulk-memory-opt",
  "sign-ext",
  "nontrapping-float-to-int",
  "mutable-globals",
  "reference-types",
  "multivalue",
].map((feature) => `--enable-${feature}`);

/** Merges image, glue and family glue. When one imports what another exports, it becomes a direct call. */
export async function linkModules(scratch: string, image: string, familyGlueText: string): Promise<string> {
  const family = join(scratch, "family.wat");
  const linked = join(scratch, "linked.wasm");
  await writeFile(family, familyGlueText);
  const modules = {
    qjs: image,
    env: join(glueFolder, "engine.wat"),
    json: join(glueFolder, "json.wat"),
    wasi_snapshot_preview1: join(glueFolder, "wasi.wat"),
    family,
  };
  const fileThenName = Object.entries(modules).flatMap(([name, file]) => [file, name]);
  await binaryen("wasm-merge", [...fileThenName, "-o", linked, ...features]);
  return linked;
}

/** Drops everything that the roots do not reach, including the engine's own exports. */
export async function reduceModule(scratch: string, linked: string, roots: readonly string[]): Promise<string> {
  const graph = join(scratch, "roots.json");
  const reduced = join(scratch, "reduced.wasm");
  await writeFile(graph, JSON.stringify(roots.map((name) => ({ name: `root-${name}`, root: true, export: name }))));
  await binaryen("wasm-metadce", [linked, "--graph-file", graph, "-o", reduced, ...features]);
  return reduced;
}

export async function optimiseModule(scratch: string, reduced: string, level: "-O0" | "-O2"): Promise<string> {
  const optimised = join(scratch, "optimised.wasm");
  // Memory packing would cut the image at every few zeros into nine thousand segments. An instance would take 0.1 ms
  // longer to make, and the compressed file would be larger. `image.ts` has already left out the long runs.
  const passes = [level, "--skip-pass=memory-packing", "--strip-debug", "--strip-producers"];
  await binaryen("wasm-opt", [reduced, ...passes, "-o", optimised, ...features]);
  return optimised;
}

async function binaryen(tool: string, args: readonly string[]): Promise<void> {
  await run(process.execPath, [join(binaryenFolder, "bin", tool), ...args], { maxBuffer: 64 * 1024 * 1024 });
}
