import { readSettings } from "../config/read-settings.ts";
import type { Settings } from "../config/read-settings.ts";
import { flagOf, settingAt, settingPaths, variableOf } from "../config/settings.ts";
import type { SettingPath } from "../config/settings.ts";
import { sourceText } from "../config/source.ts";
import { visibleJson, visibleText } from "../values/visible-text.ts";
import { defineCommand } from "./command.ts";

export const configCommand = defineCommand({
  name: "config",
  description: `Prints every setting with its value and where it comes from: a flag, else the environment, else the config file,
else the default. There are no secrets among them: keys are public, and only their files are named.

The config file is JSON: "serve.port" is { "serve": { "port": 8080 } }. Names of files in it are relative to it; those in
flags and in the environment to the present folder. In a variable, plugins and mounts stand apart as the folders of PATH
do, and other texts with commas. A variable that is empty, or whose name begins with MEMCELL_ and is not known, is an error.`,
  flags: {
    json: "prints { file, settings } as JSON: the config file that was read or null, and all that is known of each",
  },
  settings: settingPaths,
  examples: ["memcell config", "MEMCELL_SERVE_PORT=8080 memcell config --json"],
  exitCodes: ["0 printed"],

  async run({ options, settings: flags }) {
    const settings = await readSettings(flags);
    const report = { file: settings.file, settings: settingReports(settings) };
    process.stdout.write(options.json ? `${visibleJson(report)}\n` : settingsText(settings));
    return 0;
  },
});

/** What holds of each setting, and who says so: a line for each, in columns. */
function settingsText({ values, sources }: Settings): string {
  const rows = settingPaths.map((path) => [path, valueText(path, values[path]), sourceText(sources[path])] as const);
  return columns([["setting", "value", "from"], ...rows].map((row) => row.map(visibleText)));
}

/** The same for programs. */
function settingReports({ values, sources }: Settings) {
  return settingPaths.map((setting) => ({
    setting,
    /** `null`: none, which has its own meaning for each. */
    value: values[setting],
    from: sources[setting],
    flag: `--${flagOf(setting)}`,
    variable: variableOf(setting),
    default: settingAt(setting).default,
  }));
}

/** A value as JSON has it, or in words what is done without one. */
function valueText(path: SettingPath, value: unknown): string {
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
