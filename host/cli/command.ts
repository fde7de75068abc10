import type { SettingFlags } from "../config/read-settings.ts";
import type { SettingPath } from "../config/settings.ts";

/** A command: what its command line may say, of which its help is made, and what it does. */
export interface Command<Text extends string = string, Flag extends string = string, List extends string = string> {
  /** As it is typed: `call`, `audit verify`. */
  readonly name: string;
  /** Paragraphs; lines of one are joined. */
  readonly description: string;
  /** `<Tool>` must be there, `[NAME]` may, `[LOG...]` as often as wanted. With what each is. */
  readonly operands?: Readonly<Record<string, string>>;
  /** Options that take one text: what stands for it in the help, and what it says. `olderThan` is `--older-than`. */
  readonly texts?: Readonly<Record<Text, readonly [placeholder: string, meaning: string]>>;
  /** The same for options that may be repeated. */
  readonly lists?: Readonly<Record<List, readonly [placeholder: string, meaning: string]>>;
  /** Options that are there or not. */
  readonly flags?: Readonly<Record<Flag, string>>;
  /** Settings whose flags are taken, and `--config` with them. */
  readonly settings?: readonly SettingPath[];
  readonly examples: readonly string[];
  /** What 0 and 1 mean. 2 is the same of all. */
  readonly exitCodes: readonly string[];
  /**
   * Resolves to the exit code. A `UsageError` is told as one; a `ToolError` is printed as JSON, like a failed call, and is
   * exit code 1.
   */
  run(line: CommandLine<Text, Flag, List>): Promise<number>;
}

/** A command line, understood. */
export interface CommandLine<Text extends string = string, Flag extends string = string, List extends string = string> {
  /** Arguments that are no options. */
  readonly operands: readonly string[];
  readonly options: { readonly [Key in Text]?: string } & { readonly [Key in Flag]?: true } & {
    readonly [Key in List]?: readonly string[];
  };
  /** For `readSettings`, which judges them. */
  readonly settings: SettingFlags;
}

/** The command itself, with the names of its options as types. */
export function defineCommand<Text extends string = never, Flag extends string = never, List extends string = never>(
  command: Command<Text, Flag, List>,
): Command<Text, Flag, List> {
  return command;
}
