/**
 * What an operation of a memory's owner is. The runtime, the command line, and whatever else shows the owner what can be done,
 * take the same value: `table.ts` has them all.
 */
import type { Fields, InputOf } from "./field.ts";
import type { Operation } from "./operation.ts";
import type { Told, ToldText } from "./told.ts";

/** Something that an operation does, with a record of its own in the audit log. */
export interface Action<Input, Result> {
  /** As the audit log names it. */
  readonly name: string;
  /** As messages name it: "Cannot restore an entry". */
  readonly action: string;
  /** Whether it changes anything, or needs the rights of what does: then a read-only runtime refuses it. */
  readonly changes: boolean;
  run(operation: Operation, input: Input): Promise<Result>;
}

export interface OwnerOperation<Of extends Fields = Fields, Result = unknown, Planned = unknown> extends Action<
  InputOf<Of>,
  Result
> {
  readonly fields: Of;
  /** What is wrong with an input whose fields each fit, as a clause; `null` if nothing is. */
  check?(input: InputOf<Of>): string | null;
  /** What it would do, of an operation that a person had better look at first: a command does it only with `--yes`. */
  readonly plan?: Action<InputOf<Of>, Planned>;
  /** The command that does it. None if no person types it, or if the command does more than this. */
  readonly command?: OperationCommand<InputOf<Of>, Result | Planned>;
}

/** What every command says of itself. Its help is made of that. */
export interface CommandWords<Input> {
  /** As a person types it: `undo`, `trash restore`. */
  readonly name: string;
  /** Paragraphs, separated by empty lines. The lines of a paragraph are joined. */
  readonly description: string;
  /** The fields that are given without a flag, in order; only the last can be a list. Default: none. */
  readonly operands?: readonly (keyof Input & string)[] | undefined;
  readonly examples: readonly string[];
  /** What the exit codes 0 and 1 mean, if more than that it is done or has failed. 2 means the same for every command. */
  readonly exitCodes?: readonly [zero: string, one: string];
}

/** A command that does an operation. Its options, checks, help, `--json` and `--yes` are made from the operation. */
export interface OperationCommand<Input, Result> extends CommandWords<Input> {
  /** Other names of it. */
  readonly aliases?: readonly string[];
  /** One line for the list of all commands. */
  readonly summary: string;
  /** Whether the user has to be named, although there is only one. */
  readonly needsUser?: boolean;
  /** Whether it is for a user of whom nothing is stored, too. Otherwise such a user is taken for a misspelt one. */
  readonly makesUser?: boolean;
  /** What the option --edit lets a person write. Default: there is no such option. */
  readonly edits?: EditedText;
  /** The result in a person's words. */
  tells(result: Result, asked: AskedCommand<Input>): Told;
  /** Whether there is nothing in the result: then a user of whom nothing is stored is named. Default: of an empty list. */
  isEmpty?(result: Result): boolean;
  /** Whether the exit code is 1 although it has not failed. Default: never. */
  isUnfinished?(result: Result): boolean;
}

/** The field `text`, as a person writes it in an editor. Nothing is open meanwhile. */
export interface EditedText {
  /** The operation that shows what there is, with the other fields. */
  readonly shownBy: string;
  /** The text to begin with. Throws what would keep another one from being saved. */
  readonly before: (shown: unknown) => string;
  /** What an empty text means: "nothing is saved". */
  readonly ifEmpty: string;
}

/** What a command was asked for. */
export interface AskedCommand<Input> {
  readonly input: Input;
  readonly userId: string;
  /** Whether the result is that of the plan. */
  readonly isPlan: boolean;
  /** A command line to copy: with these options, and the user and the settings of this one. An option without a value is "". */
  readonly toCopy: (name: string, options?: Readonly<Record<string, string | undefined>>, operand?: string) => ToldText;
}

/** Returns the operation itself. The names of its fields become types. */
export const defineOperation = <const Of extends Fields, Result, Planned = never>(
  operation: OwnerOperation<Of, Result, Planned>,
): OwnerOperation<Of, Result, Planned> => operation;
