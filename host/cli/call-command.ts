import { callLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import type { SettingFlags } from "../config/read-settings.ts";
import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import { wrongInput } from "../guest/guest-json.ts";
import { envelopeOf, resultOf } from "../values/tool-result.ts";
import type { ToolResult } from "../values/tool-result.ts";
import { visibleJson } from "../values/visible-text.ts";
import { defineCommand } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";

export const callCommand = defineCommand({
  name: "call",
  description: `Calls a tool for a user and prints its result as JSON. "memcell tools" prints the tools with the schemas of
their inputs.`,
  operands: { "<Tool>": "the tool's name" },
  texts: {
    user: ["ID", "the user on whose behalf the tool runs"],
    input: ["JSON", "the tool's input; without it, standard input is read to its end"],
  },
  settings: runtimePaths,
  examples: [
    `memcell call <Tool> --user alice --input '{"name":"editor"}'`,
    `echo '{"name":"editor"}' | memcell call <Tool> --user alice`,
  ],
  exitCodes: ["0 the tool succeeded", "1 the tool failed"],

  async run({ operands: [tool = ""], options, settings }) {
    if (options.input === undefined && process.stdin.isTTY) throw new UsageError("--input is missing");
    return await callTool(tool, options, settings);
  },
});

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
  await using runtime = await openRuntime(settings, options.user);
  // Printed before the runtime is closed: the result is durable, and whoever waits for it need not wait for the threads.
  return print(await runtime.call(tool, input, { userId: options.user as string }));
}

/** Standard input as text, or why it is none: too long for any tool, or not UTF-8. */
async function readInput(): Promise<{ text: string } | { value: string; allowed: string }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > callLimits.inputBytesMax) {
      return { value: `over ${callLimits.inputBytesMax} bytes`, allowed: `at most ${callLimits.inputBytesMax} bytes` };
    }
    chunks.push(chunk);
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { value: "not UTF-8", allowed: "a JSON object in UTF-8" };
  }
}

function unusable(tool: string, value: string, allowed: string): number {
  return print(resultOf(envelopeOf(wrongInput(quoted(tool), value, allowed))));
}

function print(result: ToolResult): number {
  process.stdout.write(`${visibleJson(result)}\n`);
  return result.ok ? 0 : 1;
}
