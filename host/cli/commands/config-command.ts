import { readSettings } from "../../config/read-settings.ts";
import type { Settings } from "../../config/read-settings.ts";
import { flagOf, settingAt, settingPaths, variableOf } from "../../config/settings.ts";
import type { SettingPath } from "../../config/settings.ts";
import { sourceText } from "../../config/source.ts";
import { flag } from "../../owner/field.ts";
import { defineCommand } from "../command.ts";
import { printResult } from "../print-told.ts";

export const command = defineCommand({
  name: "config",
  description: `Prints every setting with its value and its source. Flags override environment variables, which
override the config file, which overrides the defaults. No setting is a secret: keys are public keys, and settings only
name their files or URLs.

The config file is JSON: "serve.port" is { "serve": { "port": 8080 } }. File names in it are relative to its folder.
File names in flags and environment variables are relative to the working directory. In environment variables, plugins
and mounts are separated like the folders in PATH, and the items of other lists by commas. A MEMCELL_ variable that is
empty or unknown is an error.`,
  fields: {
    json: flag(
      "prints { file, settings } as JSON: the config file that was read or null, and all facts about each setting",
    ),
  },
  settings: settingPaths,
  examples: ["memcell config", "MEMCELL_SERVE_PORT=8080 memcell config --json"],
  exitCodes: ["printed", "failed"],

  async run({ input, settings: flags, terminal }) {
    const settings = await readSettings(flags);
    const report = { file: settings.file, settings: settingReports(settings) };
    printResult(terminal, input.json, report, [{ heads: ["setting", "value", "from"], rows: rowsOf(settings) }]);
    return 0;
  },
});

const rowsOf = ({ values, sources }: Settings): string[][] =>
  settingPaths.map((path) => [path, valueText(path, values[path]), sourceText(sources[path])]);

/** The same for programs. */
function settingReports({ values, sources }: Settings) {
  return settingPaths.map((setting) => ({
    setting,
    /** `null` if the setting has no value; what that means depends on the setting. */
    value: values[setting],
    from: sources[setting],
    flag: `--${flagOf(setting)}`,
    variable: variableOf(setting),
    default: settingAt(setting).default,
  }));
}

/** The value as JSON, or in words what happens without one. */
function valueText(path: SettingPath, value: unknown): string {
  const { unset = "none" } = settingAt(path);
  if (value === null) return `(${unset})`;
  return Array.isArray(value) ? value.map((each) => JSON.stringify(each)).join(" ") || "(none)" : JSON.stringify(value);
}
