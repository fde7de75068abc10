/** The plugins that come with the package, and their names. */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { quoted } from "../../shared/text.ts";
import { listFilesEnding } from "../disk/bounded-file.ts";
import { ToolError } from "../values/tool-error.ts";

/** The files of all of them, in the order of their names. */
export function bundledPluginFiles(): Promise<string[]> {
  return listFilesEnding(".wasm", fileURLToPath(new URL("../../plugins/", import.meta.url)));
}

/** Whether a text names a plugin of the package. What has a dot, a slash or a capital names a file. */
export function isPluginName(text: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(text);
}

/**
 * The files of what is to be loaded: each a file already, or the name of a plugin of the package. Throws `PLUGIN_REFUSED`
 * for a name that none has: a file of that name in the present folder is another one's.
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
  const reason = `the package has no plugin of this name, allowed: ${names.join(", ")}, or a file, as ${quoted(`./${name}`)}`;
  throw new ToolError("PLUGIN_REFUSED", `Cannot load plugin ${quoted(name)}: ${reason}`);
}
