/** The plugins in the package, their names, and which of them are loaded. */
import { basename } from "node:path";

import { nearestName } from "../../shared/nearest-name.ts";
import { quoted } from "../../shared/text.ts";
import { listFilesEnding } from "../disk/bounded-file.ts";
import { failureOfDisk, isMissing } from "../disk/disk-failure.ts";
import { packageFile, packagePath } from "../values/package-file.ts";
import { ToolError } from "../values/tool-error.ts";

/** What is loaded if no plugins are named: one, so that a model does not get several tools for one purpose. */
export const defaultPlugins: readonly string[] = ["user-memory"];

/**
 * What is loaded beside the named plugins: `all` plugins of the package that can be loaded, for maintenance, or some of
 * them by their names.
 */
export type Besides = readonly string[] | "all";

/** The files of the plugins to load. */
export interface PluginFiles {
  readonly named: readonly string[];
  /** Files of the package. A plugin that is in the way of a named one is not loaded. */
  readonly besides: readonly string[];
  /** The names of all plugins of the package. */
  readonly bundled: readonly string[];
}

/** Ordered by name. A program that ships only plugins of its own has none. */
async function bundledPluginFiles(): Promise<string[]> {
  try {
    return await listFilesEnding(".wasm", packagePath(pluginsFolder));
  } catch (error) {
    if (isMissing(error)) return [];
    throw failureOfDisk(error, "list the plugins of the package");
  }
}

const pluginsFolder = "dist/plugins/";

/** The name of a plugin of the package, whose file has it. */
export const bundledName = (file: string): string => basename(file, ".wasm");

/**
 * Whether a text names a plugin of the package, perhaps a misspelt one. A text with a dot or a slash names a file, and so
 * does an empty one.
 */
export function isPluginName(text: string): boolean {
  return /^[^./\\\0]+$/.test(text);
}

/**
 * Chooses the files to load. Each text in `named` is a file or the name of a plugin in the package. Throws
 * `PLUGIN_REFUSED` for an unknown name: it never means a file of that name in the working directory.
 */
export async function choosePlugins(named: readonly string[], besides: Besides): Promise<PluginFiles> {
  const bundled = new Map((await bundledPluginFiles()).map((file) => [bundledName(file), file]));
  const own = named.map((each) => (isPluginName(each) ? fileOf(each, bundled) : each));
  const others = (besides === "all" ? [...bundled.keys()] : besides).map((name) => fileOf(name, bundled));
  return { named: own, besides: others.filter((file) => !own.includes(file)), bundled: [...bundled.keys()] };
}

function fileOf(name: string, bundled: ReadonlyMap<string, string>): string {
  const file = bundled.get(name);
  if (file !== undefined) return file;
  if (bundled.size === 0) packageFile(pluginsFolder);
  const names = [...bundled.keys()];
  const expected = [...names, `or a file, such as ${quoted(`./${name}`)}`].join(", ").replace(/^or /, "");
  const next = names.length === 0 ? "expected" : `did you mean ${quoted(nearestName(name, names))}? Expected`;
  const reason = `the package has no plugin of this name; ${next} ${expected}`;
  throw new ToolError("PLUGIN_REFUSED", `Cannot load plugin ${quoted(name)}: ${reason}`);
}
