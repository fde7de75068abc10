import { text } from "node:stream/consumers";

import { quoted } from "../../shared/text.ts";
import type { CallContext } from "../api.ts";
import { ToolError } from "../tool-error.ts";
import { envelopeOf, resultOf } from "../tool-result.ts";
import type { ToolResult } from "../tool-result.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseOptions } from "./parse-options.ts";
import { UsageError } from "./usage-error.ts";

export const callCommand: Command = {
  help: `Calls a tool for a user and prints its result as JSON.

Usage
  memcell call <Tool> --user ID [--data DIR] [--input JSON]

Options
  --user ID      the user on whose behalf the tool runs
  --data DIR     the data folder (default: data)
  --input JSON   the tool's input; without it, standard input is read to its end

Examples
  memcell call ReadUserMemory --user alice --input '{"name":"editor"}'
  echo '{"action":"delete","name":"editor"}' | memcell call UpdateUserMemory --user alice

Exit codes
  0 the tool succeeded   1 the tool failed   2 the command line makes no sense
`,

  async run(args) {
    const { operands, options } = parseOptions(args, ["user", "data", "input"], 1);
    const [tool] = operands;
    if (tool === undefined) throw new UsageError("the tool's name is missing");
    if (options.input === undefined && process.stdin.isTTY) throw new UsageError("--input is missing");
    const inputText = options.input ?? (await text(process.stdin));
    const result = await callTool(tool, inputText, { userId: options.user as string }, options.data);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return result.ok ? 0 : 1;
  },
};

/** A missing user reaches the runtime as it is, so that it answers with the same error as everywhere. */
async function callTool(tool: string, inputText: string, ctx: CallContext, dataDir?: string): Promise<ToolResult> {
  let input: unknown;
  try {
    input = JSON.parse(inputText);
  } catch {
    return malformed(tool, inputText);
  }
  await using runtime = await openRuntime(dataDir);
  return await runtime.call(tool, input, ctx);
}

function malformed(tool: string, inputText: string): ToolResult {
  const issue = { field: "input", value: quoted(inputText), allowed: "a JSON object" };
  const message = `Cannot call ${tool}: input is ${issue.value}, allowed: ${issue.allowed}`;
  return resultOf(envelopeOf(new ToolError("INPUT_INVALID", message, { issues: [issue] })));
}
