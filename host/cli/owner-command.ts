/** The commands of a memory's owner, made from the operations: options, checks, help, `--json`, and `--yes` where there is a plan. */
import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { AskedCommand, EditedText, OwnerOperation } from "../owner/define-operation.ts";
import { flag, optional } from "../owner/field.ts";
import { readOnly } from "../owner/operate.ts";
import { ownerOperations } from "../owner/table.ts";
import { jsonField, personsSettings, userField } from "./command.ts";
import type { Command, CommandLine } from "./command.ts";
import { saveWritten } from "./editor.ts";
import { openForUser, refuseUnknown } from "./open-runtime.ts";
import { printResult, shownTold } from "./print-told.ts";
import { withProgress } from "./progress.ts";
import { commandLine } from "./shell-words.ts";
import { storePlace } from "./store-place.ts";

/** An operation that a command does. */
type Commanded = OwnerOperation & Pick<Required<OwnerOperation>, "command">;

const isCommanded = (operation: OwnerOperation): operation is Commanded => operation.command !== undefined;

/** By the names and other names of their commands, in the order of the table. */
export const ownerCommands: ReadonlyMap<string, Commanded> = new Map(
  ownerOperations
    .filter(isCommanded)
    .flatMap((each) => [each.command.name, ...(each.command.aliases ?? [])].map((name) => [name, each] as const)),
);

export function commandOf(name: string, operation: Commanded): Command {
  const { plan, command } = operation;
  const { description, operands, examples, exitCodes, edits, needsUser } = command;
  const user = userField(needsUser ? "the user" : "the user (default: the only one, or serve.user of the settings)");
  const fields = {
    ...operation.fields,
    user: needsUser ? user : optional(user),
    ...(plan && {
      yes: flag("does it; without it, only shows what it would do"),
      dryRun: flag("the same as without --yes"),
    }),
    ...(edits && { edit: flag(editMeaning) }),
    json: jsonField,
  };
  return {
    name,
    description: `${description}\n\nFor the owner of the memory; no tool can do this.`,
    fields,
    operands,
    settings: runtimePaths,
    settingsShown: personsSettings,
    examples: examples.map((example) => example.replace(`memcell ${command.name}`, `memcell ${name}`)),
    exitCodes: exitCodes ?? [plan ? "done; without --yes: the plan is shown" : "done", "failed"],
    run: (line) => {
      const does = (input: object): Promise<number> => run(name, operation, { ...line, input });
      return edits && "edit" in line.input ? edited(edits, operation, line, does) : does(line.input);
    },
  };
}

const editMeaning =
  "opens the text in your editor ($VISUAL or $EDITOR) first; if standard input is no terminal, it is the text";

/** Has the person write the text. Nothing is open meanwhile: others need the audit log. */
async function edited(
  { shownBy, before, ifEmpty }: EditedText,
  { action }: OwnerOperation,
  line: CommandLine,
  does: (input: object) => Promise<number>,
): Promise<number> {
  const { edit: _, ...input } = line.input as Record<string, unknown>;
  const { user, json: _json, ...asked } = input;
  const opening = { besides: "all", isOwners: true, isReading: true } as const;
  const read = async (): Promise<string> => {
    await using opened = await openForUser(line, user as string | undefined, opening);
    const { runtime, userId } = opened;
    if (runtime.asReadOnly() === runtime) throw readOnly(action);
    return before(await runtime.upkeep.perform(shownBy, { userId }, asked));
  };
  const shown = await read();
  const save = (text: string): Promise<number> => does(text === shown ? input : { ...input, text });
  return await saveWritten(line.terminal, { before: shown, ifEmpty, save });
}

async function run(name: string, operation: Commanded, line: CommandLine): Promise<number> {
  const { command, plan } = operation;
  const { user, yes, dryRun, json, ...input } = line.input as Record<string, unknown>;
  const { stdout, stderr } = line.terminal;
  if (yes === true && dryRun === true) throw new UsageError("--yes and --dry-run do not go together");
  const fault = operation.check?.(input) ?? null;
  if (fault !== null) throw new UsageError(fault);
  const planned = yes === true ? undefined : plan;
  const isPlan = planned !== undefined;
  const isJson = json === true;
  const isOwners = command.makesUser !== true;
  await using opened = await openForUser(line, user as string | undefined, {
    besides: "all",
    isOwners,
    isReading: isPlan || !operation.changes,
  });
  const { runtime, userId } = opened;
  const work = (): Promise<unknown> => runtime.upkeep.perform((planned ?? operation).name, { userId }, input);
  const result = await withProgress(line.terminal, name, work, isJson);
  const isEmpty = command.isEmpty?.(result) ?? (Array.isArray(result) && result.length === 0);
  if (isOwners && isEmpty) await refuseUnknown(runtime, userId, operation.action);
  const toCopy: AskedCommand<object>["toCopy"] = (of, options = {}, operand) => ({
    text: commandLine(of, { ...options, user: user as string | undefined }, line.settings, operand),
  });
  const told = isJson ? [] : command.tells(result, { input, userId, isPlan, toCopy });
  const place = await storePlace(line.settings, userId, shownTold(told, stdout));
  printResult(line.terminal, isJson, result ?? null, [...told, ...place]);
  // With JSON on standard error, where scripts and cron show it.
  if (isPlan && !isEmpty)
    (isJson ? stderr : stdout).write(`Nothing was changed; use --yes to ${name.split(" ").at(-1)}\n`);
  return !isPlan && command.isUnfinished?.(result) === true ? 1 : 0;
}
