/** The commands of a memory's owner, made from the operations: options, checks, help, `--json`, and `--yes` where there is a plan. */
import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { OperationCommand, OwnerOperation } from "../owner/define-operation.ts";
import { flag, optional } from "../owner/field.ts";
import { ownerOperations } from "../owner/operations/table.ts";
import { visibleJson } from "../values/visible-text.ts";
import { jsonField, userField } from "./command.ts";
import type { Command, CommandLine } from "./command.ts";
import { openForUser, refuseUnknown } from "./open-runtime.ts";
import { shownTold } from "./print-told.ts";
import { withProgress } from "./progress.ts";
import { storePlace } from "./store-place.ts";

/** An operation, as one of its commands does it. */
interface OwnerCommand {
  readonly words: OperationCommand<object, unknown>;
  readonly operation: OwnerOperation;
}

/** By their names and other names, in the order of the table. */
export const ownerCommands: ReadonlyMap<string, OwnerCommand> = new Map(
  ownerOperations.flatMap((operation) =>
    (operation.commands ?? []).flatMap((words) =>
      [words.name, ...(words.aliases ?? [])].map((name) => [name, { words, operation }] as const),
    ),
  ),
);

export function commandOf(name: string, { words, operation }: OwnerCommand): Command {
  const user = userField(
    words.needsUser ? "the user" : "the user (default: the only one, or serve.user of the settings)",
  );
  const fields = {
    ...operation.fields,
    user: words.needsUser ? user : optional(user),
    ...(operation.plan && {
      yes: flag("does it; without it, only shows what it would do"),
      dryRun: flag("the same as without --yes"),
    }),
    json: jsonField,
  };
  const { description, operands = [], examples, exitCodes } = words;
  const planned = operation.plan ? "done; without --yes: the plan is shown" : "done";
  return {
    name,
    description: `${description}\n\nFor the owner of the memory; no tool can do this.`,
    fields,
    operands,
    settings: runtimePaths,
    examples: examples.map((example) => example.replace(`memcell ${words.name}`, `memcell ${name}`)),
    exitCodes: exitCodes ?? [planned, "failed"],
    run: (line) => run(name, { words, operation }, line),
  };
}

async function run(name: string, { words, operation }: OwnerCommand, line: CommandLine): Promise<number> {
  const { user, yes, dryRun, json, ...input } = line.input as Record<string, unknown>;
  const { stdout, stderr } = line.terminal;
  if (yes === true && dryRun === true) throw new UsageError("--yes and --dry-run do not go together");
  const fault = operation.check?.(input) ?? null;
  if (fault !== null) throw new UsageError(fault);
  const isPlan = operation.plan !== undefined && yes !== true;
  const isJson = json === true;
  await using opened = await openForUser(line, user as string | undefined, {
    besides: "all",
    isOwners: words.makesUser !== true,
    isReading: isPlan || !operation.changes,
  });
  const { runtime, userId } = opened;
  const does = isPlan ? operation.plan : operation;
  const work = (): Promise<unknown> => runtime.upkeep.perform(does?.name ?? "", { userId }, input);
  const result = await withProgress(line.terminal, name, work, isJson);
  if (words.isEmpty?.(result) === true) await refuseUnknown(runtime, userId, operation.action);
  if (isJson) stdout.write(`${visibleJson(result ?? null)}\n`);
  else {
    const text = shownTold(words.tells(result, { input, userId, isPlan }), stdout);
    stdout.write(text + (await storePlace(line.settings, userId, text)));
  }
  // With JSON on standard error, where scripts and cron show it.
  if (isPlan) (isJson ? stderr : stdout).write(`Nothing was changed; use --yes to ${name.split(" ").at(-1)}\n`);
  return !isPlan && words.isUnfinished?.(result) === true ? 1 : 0;
}
