import { readCommandLine } from "../../host/cli/command-line.ts";
import { configCommand } from "../../host/cli/config-command.ts";
import { readSettings } from "../../host/config/read-settings.ts";
import type { Settings } from "../../host/config/read-settings.ts";
import { UsageError } from "../../host/config/usage-error.ts";

/** The settings of a command that accepts the flags of all settings. */
export async function settingsOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Settings> {
  const line = readCommandLine(configCommand, args);
  if ("help" in line) throw new Error("the arguments ask for help");
  return await readSettings({ ...line.settings, environment });
}

/** Returns the error's message. Throws if there is none. */
export async function mistakeOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    await settingsOf(args, environment);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error("nothing was found wrong");
}
