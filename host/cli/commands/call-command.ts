import { isUtf8 } from "node:buffer";

import { callLimits } from "../../../shared/limits.ts";
import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { wrongInput } from "../../guest/guest-json.ts";
import { optional, text } from "../../owner/field.ts";
import { boundedBytes } from "../../values/bounded-bytes.ts";
import { failedResult } from "../../values/tool-result.ts";
import type { ToolResult } from "../../values/tool-result.ts";
import { visibleJson } from "../../values/visible-text.ts";
import { asAlways, defineCommand, userField } from "../command.ts";
import { openCatalog, openRuntime } from "../open-runtime.ts";
import type { Terminal } from "../terminal.ts";

export const command = defineCommand({
  name: "call",
  description: `Calls a tool for a user and prints its result as JSON. "memcell tools" prints the tools with their
input schemas.`,
  fields: {
    json: asAlways,
    tool: text("Tool", "the tool's name"),
    user: userField("the user on whose behalf the tool runs"),
    input: optional(text("JSON", "the tool's input (default: standard input, read to its end)")),
  },
  operands: ["tool"],
  settings: runtimePaths,
  examples: [
    `memcell call <Tool> --user alice --input '{"name":"editor"}'`,
    `echo '{"name":"editor"}' | memcell call <Tool> --user alice`,
  ],
  exitCodes: ["the tool succeeded", "the tool failed"],
  isForPrograms: true,

  async run({ input: { tool, user, input: given }, settings, terminal }) {
    const read = await readInput(terminal, given);
    // Whoever has misspelt the tool is told that first: the input can be meant for another one.
    if ("fault" in read && (await isKnown(tool, { settings, terminal }))) {
      if (read.isTyped) throw new UsageError(read.fault);
      return print(terminal, failedResult(wrongInput(quoted(tool), read.value, read.allowed)));
    }
    const input = "fault" in read ? {} : read.input;
    await using runtime = await openRuntime({ settings, terminal }, user);
    // Printed before the runtime closes: it is already durable, and its reader need not wait until the threads have
    // stopped.
    return print(terminal, await runtime.call(tool, input, { userId: user }));
  },
});

async function isKnown(tool: string, line: Parameters<typeof openCatalog>[0]): Promise<boolean> {
  await using runtime = await openCatalog(line);
  return runtime.tools().some(({ name }) => name === tool);
}

type ReadInput =
  | { readonly input: unknown }
  | { readonly isTyped: boolean; readonly fault: string; readonly value: string; readonly allowed: string };

/** The input: what is typed, or standard input to its end. */
async function readInput({ stdin }: Terminal, typed: string | undefined): Promise<ReadInput> {
  const unfit = (value: string, allowed = "a JSON object"): ReadInput => ({
    isTyped: typed !== undefined || stdin.isTTY === true,
    fault: `--input is ${value}; expected ${allowed}`,
    value,
    allowed,
  });
  if (typed === undefined && stdin.isTTY) return unfit("missing");
  const { inputBytesMax } = callLimits;
  const bytes =
    typed === undefined ? await boundedBytes(stdin as AsyncIterable<Buffer>, inputBytesMax) : Buffer.from(typed);
  if (bytes === null) return unfit(`over ${inputBytesMax} bytes`, `at most ${inputBytesMax} bytes`);
  if (!isUtf8(bytes)) return unfit("not UTF-8", "a JSON object in UTF-8");
  const json = bytes.toString("utf8");
  try {
    return { input: JSON.parse(json) as unknown };
  } catch {
    return unfit(quoted(json));
  }
}

function print({ stdout }: Terminal, result: ToolResult): number {
  stdout.write(`${visibleJson(result)}\n`);
  return result.ok ? 0 : 1;
}
