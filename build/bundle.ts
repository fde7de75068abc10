/**
 * Step 1: TypeScript to JavaScript.
 *
 * Input: a family's folder. Output: a script without modules and imports. It runs the prelude, then the plugin's code,
 * and leaves one function for each tool on the global object. Each `*.deferred.ts` becomes a script of its own, whose
 * value is the module's exports. Only this file imports esbuild.
 */
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import type { BuildOptions, Metafile, OutputFile, Plugin } from "esbuild";

import type { CapabilityName } from "../shared/abi.ts";
import { exportsOf } from "../shared/manifest.ts";
import type { Family } from "../shared/manifest.ts";

/** The folder of the TypeScript sources, whether or not this file runs compiled. */
export const projectFolder: string = fileURLToPath(new URL(".", import.meta.resolve("memcell/package.json")));

const guestFolder = join(projectFolder, "build", "guest");

/** The global in which the bundle leaves a tool for the snapshot. */
export const toolGlobal = (exportName: string): string => `__tool_${exportName}`;

export interface Bundle {
  readonly script: string;
  /** The scripts of the deferred modules. The main script loads them by index. */
  readonly deferred: readonly string[];
}

/** A file that the bundler read. */
export interface BundledFile {
  /** Relative to the project's folder, with `/`. */
  readonly path: string;
  /** Its bytes in the scripts. */
  readonly bytes: number;
  /** Paths of the files that it imports. */
  readonly imports: readonly string[];
}

export interface PluginBundle extends Bundle {
  /** The files that the scripts were made from. A file in several scripts is listed for each. */
  readonly files: readonly BundledFile[];
}

export async function bundlePlugin(
  folder: string,
  family: Family,
  capabilities: readonly CapabilityName[],
): Promise<PluginBundle> {
  const found = new Map<string, BuiltScript>();
  const main = await build({
    ...guestCode,
    stdin: { contents: entryScript(folder, family), resolveDir: projectFolder, loader: "ts" },
    plugins: [...guestCode.plugins, deferredModules(found)],
    define: { CAPABILITY_NAMES: JSON.stringify(capabilities) },
    format: "iife",
  });
  // The order in which the bundler finds them depends on the machine, so they are sorted by name.
  const deferred = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const script = deferred.reduce(
    (text, [name], index) => text.replaceAll(JSON.stringify(name), String(index)),
    onlyText(main.outputFiles),
  );
  const scripts = [main, ...deferred.map(([, built]) => built)];
  return {
    script,
    deferred: deferred.map(([, { outputFiles }]) => onlyText(outputFiles)),
    files: scripts.flatMap(({ metafile }) => filesOf(metafile)),
  };
}

interface BuiltScript {
  readonly outputFiles: readonly OutputFile[];
  readonly metafile: Metafile;
}

function filesOf({ inputs, outputs }: Metafile): BundledFile[] {
  const left = new Map(Object.values(outputs).flatMap((output) => Object.entries(output.inputs)));
  return Object.entries(inputs).map(([path, { imports }]) => ({
    path,
    bytes: left.get(path)?.bytesInOutput ?? 0,
    imports: imports.map((each) => each.path),
  }));
}

/**
 * Replaces `x.deferred.ts` with functions of the same names, which load the module on the first call. The module may
 * export only functions. The load call contains the module's name, which `bundlePlugin` replaces with its index.
 */
function deferredModules(found: Map<string, BuiltScript>): Plugin {
  return {
    name: "deferred-modules",
    setup(bundler) {
      bundler.onLoad({ filter: /\.deferred\.ts$/ }, async ({ path }) => {
        const built = await build({
          ...guestCode,
          entryPoints: [path],
          format: "iife",
          globalName: "deferred",
          footer: { js: "return deferred})()" },
          banner: { js: "(()=>{" },
        });
        const name = `deferred ${relative(projectFolder, path).replaceAll(sep, "/")}`;
        found.set(name, built);
        const names = await exportedNames(path);
        const functions = names.map((each) => `export const ${each} = (...args) => load().${each}(...args);`);
        const loader = `const load = () => (loaded ??= loadDeferred(${JSON.stringify(name)}));`;
        const contents = ["let loaded;", `const loadDeferred = globalThis.__loadDeferred;`, loader, ...functions];
        return { contents: contents.join("\n"), loader: "js" };
      });
    },
  };
}

async function exportedNames(path: string): Promise<string[]> {
  const { metafile } = await build({
    ...guestCode,
    entryPoints: [path],
    format: "esm",
    outdir: "unused",
  });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

function onlyText(files: readonly OutputFile[]): string {
  const [file] = files;
  if (!file) throw new Error("Cannot bundle plugin: esbuild returned no file");
  return file.text;
}

/** What gray-matter imports and a plugin does not need, by the file that takes its place. */
const grayMatterStandIns: readonly (readonly [imported: RegExp, file: string])[] = [
  [/^\.\/(lib\/)?engines$/, "gray-matter-engines-stand-in.ts"],
  [/^(\.\/(lib\/)?stringify|section-matter)$/, "fs-stand-in.ts"],
  [/^kind-of$/, "kind-of-stand-in.cjs"],
  [/^\.\/(lib\/)?excerpt$/, "excerpt-stand-in.cjs"],
];

const grayMatterOfPlugins: Plugin = {
  name: "gray-matter-of-plugins",
  setup(bundler) {
    for (const [filter, file] of grayMatterStandIns) {
      bundler.onResolve({ filter }, ({ importer }) =>
        importer.includes("gray-matter") ? { path: join(guestFolder, file) } : null,
      );
    }
  },
};

/**
 * Marks calls on `z` as pure, because they only make schemas. The bundler then drops schemas that a guest does not
 * parse with, such as those of outputs. It cannot find out on its own across modules.
 */
const schemasAreValues: Plugin = {
  name: "schemas-are-values",
  setup(bundler) {
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.endsWith(".deferred.ts")) return null;
      const source = await readFile(path, "utf8");
      if (!/^import \* as z from ".*\/zod\.ts";$/m.test(source)) return null;
      return { contents: source.replace(/(?<![\w.])z\.\w+\(/g, "/* @__PURE__ */ $&"), loader: "ts" };
    });
  },
};

/** Bundles a file with all that it imports, except the packages `apart`, into a module that Node can import. */
export async function bundleModule(
  entry: string,
  outFile: string,
  options: ModuleOptions = {},
): Promise<BundledFile[]> {
  const { head = "", apart = [], platform = "neutral" } = options;
  const { metafile } = await build({
    ...neutral,
    entryPoints: [entry],
    format: "esm",
    platform,
    external: [...apart],
    outfile: outFile,
    banner: { js: head },
    metafile: true,
  });
  return filesOf(metafile);
}

export interface ModuleOptions {
  /** The first lines. */
  readonly head?: string;
  readonly apart?: readonly string[];
  /** Default: none, so that Node's own modules are errors. */
  readonly platform?: "node";
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

/** How guest code is bundled: minified, with stand-ins for Node's own modules. */
const guestCode = {
  ...neutral,
  inject: [join(guestFolder, "buffer-stand-in.ts")],
  // gray-matter names "fs" for a function that nothing calls.
  alias: { fs: join(guestFolder, "fs-stand-in.ts") },
  plugins: [grayMatterOfPlugins, schemasAreValues],
  // A direct eval would keep every name and all dead code in the bundle, so it fails the build.
  logOverride: { "direct-eval": "error" },
  minify: true,
  write: false,
  metafile: true,
} satisfies BuildOptions;

function entryScript(folder: string, family: Family): string {
  const tools = family.tools
    .flatMap(exportsOf)
    .map((name) => `globalThis.${toolGlobal(name)} = globalThis.__entryPoint(tools.${name});`);
  return [
    `import ${JSON.stringify(join(guestFolder, "prelude.ts"))};`,
    `import * as tools from ${JSON.stringify(join(folder, "index.ts"))};`,
    ...tools,
  ].join("\n");
}
