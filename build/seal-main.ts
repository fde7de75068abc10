/**
 * `npm run seal`, after the compiler: seals a module that another compiler made.
 *
 * usage: node dist/build/seal-main.js MODULE.wasm FOLDER --out FILE
 */
import { readFile, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";

import { readFamily } from "./family.ts";
import { sealModule } from "./seal-module.ts";

const help = `Seals a WebAssembly module from any compiler as a plugin

Usage
  npm run seal -- MODULE.wasm FOLDER --out FILE

MODULE.wasm  the compiled module; shared/README.md says what it must import and export
FOLDER       the folder of family.ts, which declares the plugin's tools and their rights; it must have the family's name
FILE         the plugin file to write, with FILE.sha256 beside it

Exit codes
  0 sealed   1 not a valid plugin; the output says what to change   2 invalid command line
`;

process.exitCode = await run(process.argv.slice(2));

async function run(args: string[]): Promise<number> {
  const asked = parse(args);
  if (asked === "help") process.stdout.write(help);
  else if (asked === null) process.stderr.write(help);
  else return await seal(asked);
  return asked === null ? 2 : 0;
}

interface Asked {
  readonly module: string;
  readonly folder: string;
  readonly out: string;
}

function parse(args: string[]): Asked | "help" | null {
  try {
    const options = { out: { type: "string" }, help: { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    if (values.help) return "help";
    const [module, folder, ...others] = positionals;
    if (module === undefined || folder === undefined || others.length > 0 || values.out === undefined) return null;
    return { module, folder: resolve(folder), out: values.out };
  } catch {
    return null;
  }
}

async function seal({ module, folder, out }: Asked): Promise<number> {
  try {
    const { wasm, sha256, manifest } = await sealModule(await readFile(module), await readFamily(folder));
    await writeFile(out, wasm);
    await writeFile(`${out}.sha256`, `${sha256}  ${basename(out)}\n`);
    const { min, max } = manifest.memoryPages;
    console.log(`${out}  ${wasm.length} bytes  sha256 ${sha256}`);
    console.log(`memory ${min} to ${max} pages, deadline ${manifest.deadlineMs} ms, fuel ${manifest.fuelPolls} polls`);
    console.log(`"node dist/host/cli/main.js audit ${out} --propose" writes the policy that loads it`);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}
