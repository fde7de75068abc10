import { readSettings } from "../config/read-settings.ts";
import { settingReports, settingsText } from "../config/settings-text.ts";
import { settingPaths } from "../config/settings.ts";
import { visibleJson } from "../values/visible-text.ts";
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
