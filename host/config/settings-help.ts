import type { SettingForm } from "./setting.ts";
/** What helps say of settings, from the one table. */
import { flagOf, settingAt, variableOf } from "./settings.ts";
import type { SettingPath } from "./settings.ts";

/** Lines of a help's options: each flag, what it says and its default. */
export function flagLines(paths: readonly SettingPath[]): string {
  const flags = paths.map((path) => flagText(path));
  const width = Math.max(...flags.map((flag) => flag.length));
  return paths.map((path, at) => `  ${(flags[at] ?? "").padEnd(width)}  ${meaningText(path)}\n`).join("");
}

/** Each setting as all three sources name it, with what it says. */
export function settingLines(paths: readonly SettingPath[]): string {
  return paths
    .map((path) => `  ${path}  ${flagText(path)}  ${variableOf(path)}\n      ${meaningText(path)}\n`)
    .join("");
}

function meaningText(path: SettingPath): string {
  const { meaning, unset = "none", default: preset } = settingAt(path);
  const shown = Array.isArray(preset) ? preset.join(", ") || "none" : String(preset ?? unset);
  return `${meaning} (default: ${shown})`;
}

function flagText(path: SettingPath): string {
  const { form } = settingAt(path);
  return form === "switch" ? `--[no-]${flagOf(path)}` : `--${flagOf(path)} ${operands[form]}`;
}

const operands: Record<Exclude<SettingForm, "switch">, string> = {
  text: "TEXT",
  number: "NUMBER",
  texts: "TEXT ...",
  file: "FILE",
  "files-or-names": "FILE|NAME ...",
  mounts: "SCOPE=DIR ...",
  "file-or-url": "FILE|URL",
};
