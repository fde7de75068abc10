import { runtimePaths } from "../../config/settings.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { defineCommand, jsonField } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";

export const usersCommand = defineCommand({
  name: "users",
  description: `Lists the users and chats of whom something is stored, one a line, sorted.`,
  fields: { json: jsonField },
  settings: runtimePaths,
  examples: ["memcell users", "memcell users --json"],

  async run({ input, settings, terminal }) {
    await using runtime = await openRuntime({ settings, terminal }, undefined, { isOwners: true, isReading: true });
    const users = await runtime.upkeep.users();
    const lines = users.map((user) => `${visibleText(user)}\n`).join("");
    terminal.stdout.write(input.json ? `${visibleJson(users)}\n` : lines || "Nothing is stored there\n");
    return 0;
  },
});
