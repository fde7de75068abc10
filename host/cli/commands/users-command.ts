import { runtimePaths } from "../../config/settings.ts";
import { defineCommand, jsonField } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import { printResult } from "../print-told.ts";

export const command = defineCommand({
  name: "users",
  description: `Lists the users and chats of whom something is stored, one a line, sorted.`,
  fields: { json: jsonField },
  settings: runtimePaths,
  examples: ["memcell users", "memcell users --json"],

  async run({ input, settings, terminal }) {
    await using runtime = await openRuntime({ settings, terminal }, undefined, { isOwners: true, isReading: true });
    const users = await runtime.upkeep.users();
    printResult(terminal, input.json, users, users.length === 0 ? ["Nothing is stored there"] : users);
    return 0;
  },
});
