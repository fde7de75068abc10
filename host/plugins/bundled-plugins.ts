/** The plugins in the package, and their names. */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { quoted } from "../../shared/text.ts";
import { listFilesEnding } from "../disk/bounded-file.ts";
import { ToolError } from "../values/tool-error.ts";

/** Lists the plugin files of the package, ordered by name. */
export function bundledPluginFiles(): Promise<string[]> {
  return listFilesEnding(".wasm", fileURLToPath(new URL("../../plugins/", import.meta.url)));
}

/** Whether a text names a plugin of the package. A text with a dot, a slash or a capital letter names a file. */
export function isPluginName(text: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(text);
}

/**
 * Returns the files to load. Each text in `named` is a file or the name of a plugin in the package. Throws
 * `PLUGIN_REFUSED` for an unknown name: it never means a file of that name in the working directory.
 */
export async function pluginFilesOf(named: readonly string[] | null): Promise<string[]> {
  if (named !== null && !named.some(isPluginName)) return [...named];
  const bundled = await bundledPluginFiles();
  return named === null ? bundled : named.map((each) => (isPluginName(each) ? fileOf(each, bundled) : each));
}

function fileOf(name: string, bundled: readonly string[]): string {
  const names = bundled.map((file) => basename(file, ".wasm"));
  const file = bundled[names.indexOf(name)];
  if (file !== undefined) return file;
  const reason = `the package has no plugin of this name, allowed: ${names.join(", ")}, or a file, such as ${quoted(`./${name}`)}`;
  throw new ToolError("PLUGIN_REFUSED", `Cannot load plugin ${quoted(name)}: ${reason}`);
}
