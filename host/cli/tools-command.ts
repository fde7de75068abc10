import { catalogPaths } from "../config/settings.ts";
import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { openCatalog } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const toolsCommand: Command = {
  help: `Prints the tools a model may call, as a JSON array: name, description, JSON Schemas of input and output.

Usage
  memcell tools [--policy FILE]

Options
  --policy FILE  what the host is willing to grant (default: what the tools of the package need)

This one and the plugin files are settings, which an environment variable or memcell.config.json may say:
"memcell config --help".

Example
  memcell tools > tools.json

Exit codes
  0 printed   1 failed, with the error as JSON on standard output   2 the command line makes no sense
`,

  async run(args) {
    const { settings } = parseOptions(args, { texts: [], settings: catalogPaths }, 0);
    return await orCodedFailure(async () => {
      await using runtime = await openCatalog(settings);
      process.stdout.write(`${JSON.stringify(runtime.tools(), null, 2)}\n`);
      return 0;
    });
  },
};
