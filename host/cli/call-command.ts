import { quoted } from "../../shared/text.ts";
import { wrongInput } from "../call/encode-input.ts";
import type { SettingFlags } from "../config/read-flags.ts";
import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";
import { readInput } from "./read-input.ts";

export const callCommand: Command = {
  help: `Calls a tool for a user and prints its result as JSON.

Usage
  memcell call <Tool> --user ID [--data DIR] [--input JSON] [--policy FILE] [--audit-log FILE]

Options
  --user ID          the user on whose behalf the tool runs
  --data DIR         the data folder (default: data)
  --journal DIR      the folder of this user's journal, as in a workspace (default: in the data folder)
  --input JSON       the tool's input; without it, standard input is read to its end
  --policy FILE      what the host is willing to grant (default: what the tools of the package need)
  --audit-log FILE   where to record what is done (default: nowhere)

These and more are settings, which an environment variable or memcell.config.json may say: "memcell config --help".

Examples
  memcell call ReadUserMemory --user alice --input '{"name":"editor"}'
  echo '{"action":"delete","name":"editor"}' | memcell call UpdateUserMemory --user alice

Exit codes
  0 the tool succeeded   1 the tool failed   2 the command line makes no sense
`,

  async run(args) {
    const names = { texts: ["user", "input"], settings: runtimePaths } as const;
    const { operands, options, settings } = parseOptions(args, names, 1);
    const [tool] = operands;
    if (tool === undefined) throw new UsageError("the tool's name is missing");
    if (options.input === undefined && process.stdin.isTTY) throw new UsageError("--input is missing");
    return await callTool(tool, options, settings);
  },
};

interface CallOptions {
  readonly user?: string;
  readonly input?: string;
}

/** A missing user reaches the runtime as it is, so that it answers with the same error as everywhere. */
async function callTool(tool: string, options: CallOptions, settings: SettingFlags): Promise<number> {
  const read = options.input === undefined ? await readInput() : { text: options.input };
  if (!("text" in read)) return unusable(tool, read.value, read.allowed);
  let input: unknown;
  try {
    input = JSON.parse(read.text);
  } catch {
    return unusable(tool, quoted(read.text), "a JSON object");
  }
  return await orCodedFailure(async () => {
    await using runtime = await openRuntime(settings, options.user);
    // Printed before the runtime is closed: the result is durable, and whoever waits for it need not wait for the threads.
    return print(await runtime.call(tool, input, { userId: options.user as string }));
  });
}

function unusable(tool: string, value: string, allowed: string): number {
  return print(resultOf(envelopeOf(wrongInput(quoted(tool), value, allowed))));
}

function print(result: ToolResult): number {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  return result.ok ? 0 : 1;
}
