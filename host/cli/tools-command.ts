import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";

export const toolsCommand: Command = {
  help: `Prints the tools a model may call, as a JSON array: name, description, JSON Schemas of input and output.

Usage
  memcell tools

Example
  memcell tools > tools.json

Exit codes
  0 printed   2 the command line makes no sense
`,

  async run(args) {
    parseOptions(args, { texts: [] }, 0);
    await using runtime = await openRuntime();
    process.stdout.write(`${JSON.stringify(runtime.tools(), null, 2)}\n`);
    return 0;
  },
};
