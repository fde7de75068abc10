import { callLimits } from "../../../shared/limits.ts";
import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { wrongInput } from "../../guest/guest-json.ts";
import { boundedBytes } from "../../values/bounded-bytes.ts";
import { failedResult } from "../../values/tool-result.ts";
import type { ToolResult } from "../../values/tool-result.ts";
import { visibleJson } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import type { Terminal } from "../terminal.ts";

export const callCommand = defineCommand({
  name: "call",
  description: `Calls a tool for a user and prints its result as JSON. "memcell tools" prints the tools with their
input schemas.`,
  operands: { "<Tool>": "the tool's name" },
  requiredTexts: { user: ["ID", "the user on whose behalf the tool runs"] },
  texts: {
    input: ["JSON", "the tool's input (default: standard input, read to its end)"],
  },
  settings: runtimePaths,
  examples: [
    `memcell call <Tool> --user alice --input '{"name":"editor"}'`,
    `echo '{"name":"editor"}' | memcell call <Tool> --user alice`,
  ],
  exitCodes: ["0 the tool succeeded", "1 the tool failed"],

  async run({ operands: [tool = ""], options: { user, input: given }, settings, terminal }) {
    if (given === undefined && terminal.stdin.isTTY) throw new UsageError("--input is missing");
    const read = given === undefined ? await readInput(terminal) : { text: given };
    if (!("text" in read)) return unusable(terminal, tool, read.value, read.allowed);
    let input: unknown;
    try {
      input = JSON.parse(read.text);
    } catch {
      if (given !== undefined) throw new UsageError(`--input is ${quoted(given)}, allowed: a JSON object`);
      return unusable(terminal, tool, quoted(read.text), "a JSON object");
    }
    await using runtime = await openRuntime({ settings, terminal }, user);
    // Printed before the runtime closes: it is already durable, and its reader need not wait until the threads have
    // stopped.
    return print(terminal, await runtime.call(tool, input, { userId: user }));
  },
});

/** Reads standard input as text. If it is too long or not UTF-8, returns what is wrong and what is allowed. */
async function readInput({ stdin }: Terminal): Promise<{ text: string } | { value: string; allowed: string }> {
  const { inputBytesMax } = callLimits;
  const bytes = await boundedBytes(stdin as AsyncIterable<Buffer>, inputBytesMax);
  if (bytes === null) return { value: `over ${inputBytesMax} bytes`, allowed: `at most ${inputBytesMax} bytes` };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { value: "not UTF-8", allowed: "a JSON object in UTF-8" };
  }
}

function unusable(terminal: Terminal, tool: string, value: string, allowed: string): number {
  return print(terminal, failedResult(wrongInput(quoted(tool), value, allowed)));
}

function print({ stdout }: Terminal, result: ToolResult): number {
  stdout.write(`${visibleJson(result)}\n`);
  return result.ok ? 0 : 1;
}
