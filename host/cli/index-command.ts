import { runtimePaths } from "../config/settings.ts";
import { visibleLines } from "../values/visible-text.ts";
import { defineCommand } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";

export const indexCommand = defineCommand({
  name: "index",
  description: "Prints a user's index as it enters a system prompt: nothing for a user without entries.",
  texts: { user: ["ID", "whose index"] },
  settings: runtimePaths,
  examples: ["memcell index --user alice"],
  exitCodes: ["0 printed", "1 failed, with the error as JSON on standard output"],

  async run({ options, settings }) {
    await using runtime = await openRuntime(settings, options.user);
    const index = await runtime.memoryIndex({ userId: options.user as string });
    // A program gets it as it is; a terminal must not obey what is stored.
    process.stdout.write(process.stdout.isTTY ? visibleLines(index) : index);
    return 0;
  },
});
