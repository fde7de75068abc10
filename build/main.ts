/**
 * `npm run build`, after the compiler: builds every plugin family into `dist/plugins/`.
 *
 * usage: node dist/build/main.js [--plugins DIR] [--out DIR] [--fast]
 */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { buildPlugin } from "./build-plugin.ts";
import { projectFolder } from "./bundle.ts";
import { readFamilies } from "./family.ts";

const { values } = parseArgs({
  options: {
    plugins: { type: "string", default: join(projectFolder, "plugin") },
    out: { type: "string", default: join(projectFolder, "dist", "plugins") },
    fast: { type: "boolean", default: false },
  },
});

// The compiler writes plain files; npx runs the command as a program.
await chmod(join(projectFolder, "dist", "host", "cli", "main.js"), 0o755);

await mkdir(values.out, { recursive: true });
for (const source of await readFamilies(resolve(values.plugins))) {
  const startedMs = performance.now();
  const { wasm, sha256 } = await buildPlugin(source, { optimise: !values.fast });
  const file = join(values.out, `${source.family.name}.wasm`);
  await writeFile(file, wasm);
  await writeFile(`${file}.sha256`, `${sha256}  ${source.family.name}.wasm\n`);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const [size, zipped] = [wasm, gzipSync(wasm)].map((bytes) => (bytes.length / 1e6).toFixed(2));
  console.log(`${relative(projectFolder, file)}  ${size} MB (${zipped} MB gzipped)  sha256 ${sha256}  ${seconds} s`);
}
