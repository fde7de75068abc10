import { runtimePaths } from "../../config/settings.ts";
import { visibleLines } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";

export const indexCommand = defineCommand({
  name: "index",
  description: "Prints a user's index as it appears in a system prompt. Prints nothing for a user without entries.",
  requiredTexts: { user: ["ID", "the user whose index is printed"] },
  settings: runtimePaths,
  examples: ["memcell index --user alice"],
  exitCodes: ["0 printed", "1 failed, with the error as JSON on standard output"],

  async run({ options, settings, terminal }) {
    await using runtime = await openRuntime({ settings, terminal }, options.user, { isReading: true });
    const index = await runtime.memoryIndex({ userId: options.user });
    // A program gets the raw text. On a terminal, stored control characters are escaped.
    terminal.stdout.write(terminal.stdout.isTTY ? visibleLines(index) : index);
    return 0;
  },
});
