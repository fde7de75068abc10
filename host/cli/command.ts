import type { SettingFlags } from "../config/read-settings.ts";
import type { SettingPath } from "../config/settings.ts";
import type { CommandWords } from "../owner/define-operation.ts";
import { flag, text } from "../owner/field.ts";
import type { Fields, InputOf } from "../owner/field.ts";
import { isUserId, userIdsAllowed } from "../values/ids.ts";
import type { Terminal } from "./terminal.ts";

/** A command: what its command line accepts, which also makes its help, and what it does. */
export interface Command<Of extends Fields = Fields> extends CommandWords<Of> {
  /** Its options and arguments. `olderThan` is `--older-than`. */
  readonly fields: Of;
  /** Settings that the command accepts as flags. If given, it accepts `--config` too. */
  readonly settings?: readonly SettingPath[];
  /** Those of the settings that the help shows. The flags of the others work, too. Default: all. */
  readonly settingsShown?: readonly SettingPath[];
  /** Whether programs read its output: then it is JSON, also if the command fails. Default: with `--json`. */
  readonly isForPrograms?: boolean;
  /**
   * Resolves to the exit code. If it throws a `UsageError`, the message goes to standard error and the exit code is 2. A
   * `ToolError` goes there, too, or as JSON to standard output; then the exit code is 1.
   */
  run(line: CommandLine<Of>): Promise<number>;
}

/** A parsed command line. */
export interface CommandLine<Of extends Fields = Fields> {
  readonly input: InputOf<Of>;
  /** Not checked yet; `readSettings` does that. */
  readonly settings: SettingFlags;
  readonly terminal: Terminal;
}

/** Returns the command itself. Inside it, the names of its fields are types; it gets only inputs that these have read. */
export const defineCommand = <const Of extends Fields>(command: Command<Of>): Command => command;

/** The option `--user`. */
export const userField = (meaning: string) => text("ID", meaning, userIdsAllowed, isUserId);

/** What a person sets who looks at a memory: the others are an operator's. */
export const personsSettings: readonly SettingPath[] = ["data"];

/** The option `--json`. */
export const jsonField = flag("prints JSON");

/** The same where the output is JSON anyway. */
export const asAlways = flag("prints JSON, as always");
