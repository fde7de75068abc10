import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const toolsCommand: Command = {
  help: `Prints the tools a model may call, as a JSON array: name, description, JSON Schemas of input and output.

Usage
  memcell tools [--policy FILE]

Options
  --policy FILE  what the host is willing to grant (default: what the tools of the package need)

Example
  memcell tools > tools.json

Exit codes
  0 printed   1 failed, with the error as JSON on standard output   2 the command line makes no sense
`,

  async run(args) {
    const { options } = parseOptions(args, { texts: ["policy"] }, 0);
    return await orCodedFailure(async () => {
      await using runtime = await openRuntime(options);
      process.stdout.write(`${JSON.stringify(runtime.tools(), null, 2)}\n`);
      return 0;
    });
  },
};
