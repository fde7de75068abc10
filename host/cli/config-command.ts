import { readSettings } from "../config/read-settings.ts";
import { settingLines } from "../config/settings-help.ts";
import { settingReports, settingsText } from "../config/settings-text.ts";
import { settingPaths } from "../config/settings.ts";
import { visibleJson } from "../values/visible-text.ts";
import type { Command } from "./command.ts";
import { parseOptions } from "./parse-options.ts";

export const configCommand: Command = {
  help: `Prints every setting with its value and where it comes from: a flag, else the environment, else the config file, else
the default. There are no secrets among them: keys are public, and only their files are named.

Usage
  memcell config [--json] [--config FILE] [flags of settings]

Options
  --json         prints { file, settings } as JSON: the config file that was read or null, and all that is known of each
  --config FILE  the config file, which must be there (default: memcell.config.json in the present folder, if there is one)

The config file is JSON: "serve.port" is { "serve": { "port": 8080 } }. Names of files in it are relative to it; those in
flags and in the environment to the present folder. MEMCELL_CONFIG names the file as --config does. A flag that takes
"..." is given once for each; in a variable, plugins stand apart as the folders of PATH do, and other texts
with commas. A variable that is empty, or whose name begins with MEMCELL_ and is not known, is an error.

Settings: name in the file, flag, environment variable
${settingLines(settingPaths)}
Examples
  memcell config
  MEMCELL_SERVE_PORT=8080 memcell config --json

Exit codes
  0 printed   2 the command line, the environment or the config file makes no sense
`,

  async run(args) {
    const names = { texts: [], flags: ["json"], settings: settingPaths } as const;
    const { options, settings: flags } = parseOptions(args, names, 0);
    const settings = await readSettings(flags);
    const report = { file: settings.file, settings: settingReports(settings) };
    process.stdout.write(options.json ? `${visibleJson(report)}\n` : settingsText(settings));
    return 0;
  },
};
