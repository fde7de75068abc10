import { runtimePaths } from "../config/settings.ts";
import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const indexCommand: Command = {
  help: `Prints a user's index as it enters a system prompt: nothing for a user without entries.

Usage
  memcell index --user ID [--data DIR] [--policy FILE] [--audit-log FILE]

Options
  --user ID          whose index
  --data DIR         the data folder (default: data)
  --policy FILE      what the host is willing to grant (default: what the tools of the package need)
  --audit-log FILE   where to record what is done (default: nowhere)

These and more are settings, which an environment variable or memcell.config.json may say: "memcell config --help".

Example
  memcell index --user alice

Exit codes
  0 printed   1 failed, with the error as JSON on standard output   2 the command line makes no sense
`,

  async run(args) {
    const { options, settings } = parseOptions(args, { texts: ["user"], settings: runtimePaths }, 0);
    return await orCodedFailure(async () => {
      await using runtime = await openRuntime(settings, options.user);
      process.stdout.write(await runtime.memoryIndex({ userId: options.user as string }));
      return 0;
    });
  },
};
