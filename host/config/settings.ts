/** All that can be configured, in one table: whatever reads, prints or documents settings goes by it. */
import { runtimeTable } from "./runtime-table.ts";
import { serveTable } from "./serve-table.ts";
import { isListed } from "./setting.ts";
import type { Setting, ValueOf } from "./setting.ts";

const table = { ...runtimeTable, ...serveTable };

/** A setting's name: its path in the config file. */
export type SettingPath = keyof typeof table;

/** Each setting with its value. */
export type SettingValues = { readonly [Path in SettingPath]: ValueOf<(typeof table)[Path]> };

export const settingPaths = Object.keys(table) as readonly SettingPath[];

/** What `memcell call` and its like take as flags. */
export const runtimePaths = settingPaths.filter((path) => path in runtimeTable && path !== "threadsMax");

/** What `memcell serve` takes: for a single call more threads than one are none. */
export const servePaths = settingPaths.filter((path) => path.startsWith("serve.") || path in runtimeTable);

/** What `memcell tools` takes: it touches nobody's data, and leaves the log to those who do. */
export const catalogPaths: readonly SettingPath[] = ["policy", "plugins"];

export function settingAt(path: SettingPath): Setting {
  return table[path];
}

export function isSettingPath(path: string): path is SettingPath {
  return Object.hasOwn(table, path);
}

/** `serve.allowedHosts` is `--allowed-host`: the last name, and one of what a list has many of. */
export function flagOf(path: SettingPath): string {
  const { form } = settingAt(path);
  const name = wordsOf(path.slice(path.lastIndexOf(".") + 1)).join("-");
  return isListed(form) ? name.replace(/s$/, "") : name;
}

/** `serve.allowedHosts` is `MEMCELL_SERVE_ALLOWED_HOSTS`. */
export function variableOf(path: SettingPath): string {
  return `MEMCELL_${path.split(".").flatMap(wordsOf).join("_").toUpperCase()}`;
}

function wordsOf(name: string): string[] {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(" ");
}
