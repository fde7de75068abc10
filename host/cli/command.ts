import type { SettingFlags } from "../config/read-settings.ts";
import type { SettingPath } from "../config/settings.ts";
import type { Terminal } from "./terminal.ts";

/** A command: what its command line accepts, which also makes its help, and what it does. */
export interface Command<
  Text extends string = string,
  Flag extends string = string,
  List extends string = string,
  Required extends string = string,
> {
  /** As the user types it: `call`, `audit verify`. */
  readonly name: string;
  /** Paragraphs, separated by empty lines. The lines of a paragraph are joined. */
  readonly description: string;
  /** Arguments with their meanings: `<Tool>` is required, `[NAME]` optional, `[LOG...]` repeatable. */
  readonly operands?: Readonly<Record<string, string>>;
  /** Options that take one text, and without which the command does not run. Otherwise as `texts`. */
  readonly requiredTexts?: Readonly<Record<Required, readonly [placeholder: string, meaning: string]>>;
  /**
   * Options that take one text, with placeholder and meaning for the help. `olderThan` is `--older-than`. `user` must be
   * a user's id.
   */
  readonly texts?: Readonly<Record<Text, readonly [placeholder: string, meaning: string]>>;
  /** The same for options that may be repeated. */
  readonly lists?: Readonly<Record<List, readonly [placeholder: string, meaning: string]>>;
  /** Options without a value. */
  readonly flags?: Readonly<Record<Flag, string>>;
  /** Settings that the command accepts as flags. If given, it accepts `--config` too. */
  readonly settings?: readonly SettingPath[];
  readonly examples: readonly string[];
  /** What 0 and 1 mean. 2 means the same for every command. */
  readonly exitCodes: readonly string[];
  /**
   * Resolves to the exit code. If it throws a `UsageError`, the message goes to standard error and the exit code is 2.
   * A `ToolError` is printed as JSON, like a failed call, and the exit code is 1.
   */
  run(line: CommandLine<Text, Flag, List, Required>): Promise<number>;
}

/** A parsed command line. */
export interface CommandLine<
  Text extends string = string,
  Flag extends string = string,
  List extends string = string,
  Required extends string = string,
> {
  /** Arguments that are not options. */
  readonly operands: readonly string[];
  readonly options: { readonly [Key in Required]: string } & { readonly [Key in Text]?: string } & {
    readonly [Key in Flag]?: true;
  } & { readonly [Key in List]?: readonly string[] };
  /** Not checked yet; `readSettings` does that. */
  readonly settings: SettingFlags;
  readonly terminal: Terminal;
}

/** Returns the command itself. The names of its options become types. */
export function defineCommand<
  Text extends string = never,
  Flag extends string = never,
  List extends string = never,
  Required extends string = never,
>(command: Command<Text, Flag, List, Required>): Command<Text, Flag, List, Required> {
  return command;
}
