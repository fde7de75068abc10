import { visibleText } from "../values/visible-text.ts";
import type { Settings } from "./read-settings.ts";
import { flagOf, settingAt, settingPaths, variableOf } from "./settings.ts";
import type { SettingPath } from "./settings.ts";
import { sourceText } from "./source.ts";
import type { Source } from "./source.ts";

/** What holds of each setting, and who says so: a line for each, in columns. */
export function settingsText({ values, sources }: Settings): string {
  const rows = settingPaths.map((path) => [path, valueText(path, values[path]), sourceText(sources[path])] as const);
  return columns([["setting", "value", "from"], ...rows].map((row) => row.map(visibleText)));
}

/** The same for programs. */
export interface SettingReport {
  readonly setting: SettingPath;
  /** `null`: none, which has its own meaning for each. */
  readonly value: unknown;
  readonly from: Source;
  readonly flag: string;
  readonly variable: string;
  readonly default: unknown;
}

export function settingReports({ values, sources }: Settings): SettingReport[] {
  return settingPaths.map((setting) => ({
    setting,
    value: values[setting],
    from: sources[setting],
    flag: `--${flagOf(setting)}`,
    variable: variableOf(setting),
    default: settingAt(setting).default,
  }));
}

/** A value as JSON has it, or in words what is done without one. */
export function valueText(path: SettingPath, value: unknown): string {
  const { unset = "none" } = settingAt(path);
  if (value === null) return `(${unset})`;
  return Array.isArray(value) ? value.map((each) => JSON.stringify(each)).join(" ") || "(none)" : JSON.stringify(value);
}

/** A value that is longer than this does not push the next column away from all others. */
const columnCharsMax = 48;

function columns(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0).filter((width) => width <= columnCharsMax)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}
