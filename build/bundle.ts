/**
 * Step 1. TypeScript to one JavaScript file.
 *
 * Input: a family's folder. Output: a script (no modules, no imports) that runs the prelude, then the plugin's code,
 * and leaves one function for each tool on the global object. Sole importer of esbuild.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import type { BuildOptions, Plugin } from "esbuild";

import type { CapabilityName } from "../shared/abi.ts";
import type { Family } from "../shared/manifest.ts";

/** The folder of the TypeScript sources, whether this file runs compiled or as it is. */
export const projectFolder: string = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));

const guestFolder = join(projectFolder, "build", "guest");

/** The global under which the bundle leaves a tool for the snapshot step. */
export const toolGlobal = (exportName: string): string => `__tool_${exportName}`;

export async function bundlePlugin(
  folder: string,
  family: Family,
  capabilities: readonly CapabilityName[],
): Promise<string> {
  const { outputFiles } = await build({
    ...neutral,
    stdin: { contents: entryScript(folder, family), resolveDir: projectFolder, loader: "ts" },
    inject: [join(guestFolder, "buffer-stand-in.ts")],
    // gray-matter names "fs" and holds an eval; the guest has neither, and nothing calls them.
    alias: { fs: join(guestFolder, "fs-stand-in.ts") },
    plugins: [grayMatterWithoutYaml],
    logOverride: { "direct-eval": "silent", "import-is-undefined": "silent" },
    define: { CAPABILITY_NAMES: JSON.stringify(capabilities) },
    minify: true,
    format: "iife",
    write: false,
  });
  const [bundle] = outputFiles;
  if (!bundle) throw new Error(`Cannot bundle plugin "${family.name}": esbuild returned no file`);
  return bundle.text;
}

const grayMatterWithoutYaml: Plugin = {
  name: "gray-matter-without-yaml",
  setup(bundler) {
    bundler.onResolve({ filter: /^js-yaml$/ }, ({ importer }) =>
      importer.includes("gray-matter") ? { path: join(guestFolder, "gray-matter-yaml-stand-in.ts") } : null,
    );
  },
};

/** `family.ts` with its schemas as a module that Node can import. */
export async function bundleFamilyDeclaration(declaration: string, outFile: string): Promise<void> {
  await build({ ...neutral, entryPoints: [declaration], format: "esm", outfile: outFile });
}

const neutral = {
  absWorkingDir: projectFolder,
  bundle: true,
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2023",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
} satisfies BuildOptions;

function entryScript(folder: string, family: Family): string {
  const tools = family.tools.map(
    (tool) => `globalThis.${toolGlobal(tool.export)} = globalThis.__entryPoint(tools.${tool.export});`,
  );
  return [
    `import ${JSON.stringify(join(guestFolder, "prelude.ts"))};`,
    `import * as tools from ${JSON.stringify(join(folder, "index.ts"))};`,
    ...tools,
  ].join("\n");
}
