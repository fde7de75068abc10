import { runtimePaths } from "../../config/settings.ts";
import { flag } from "../../owner/field.ts";
import { visibleJson, visibleLines } from "../../values/visible-text.ts";
import { defineCommand, userField } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";

export const command = defineCommand({
  name: "index",
  description: "Prints a user's index as it appears in a system prompt. Prints nothing for a user without entries.",
  fields: { user: userField("the user whose index is printed"), json: flag("prints { index } as JSON") },
  settings: runtimePaths,
  examples: ["memcell index --user alice"],
  exitCodes: ["printed", "failed"],

  async run({ input: { user: userId, json }, settings, terminal }) {
    await using runtime = await openRuntime({ settings, terminal }, userId, { isReading: true });
    const index = await runtime.memoryIndex({ userId });
    if (json) {
      terminal.stdout.write(`${visibleJson({ index })}\n`);
      return 0;
    }
    // A program gets the raw text. On a terminal, stored control characters are escaped.
    terminal.stdout.write(terminal.stdout.isTTY ? visibleLines(index) : index);
    return 0;
  },
});
