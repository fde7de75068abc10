import { quoted } from "../../../shared/text.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { UndoOptions, UndoPlan } from "../../owner/undo-plan.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { ageMs } from "../age.ts";
import { defineCommand } from "../command.ts";
import { openRuntime, refuseUnknown } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { storePlace } from "../store-place.ts";
import { tellPlan } from "../tell-plan.ts";

export const undoCommand = defineCommand({
  name: "undo",
  description: `Takes back what a run has changed, or what came from a source, or all changes since a time. Without --yes the
command only prints what it would do. For the owner of the data; tools cannot do this.

Each file gets the content back that it had, also if it was deleted or moved; a file that was not there goes to the
trash. Indexes are made to fit. If others have changed a file since, by calls or by hand, it stays as it is and is
listed. The user's folder, each mounted folder and the own store are changed as a whole or not at all, up to 2,000
changes at once. If the command is killed, the same command does what is missing.

Writes of the run, or from the source, that wait for the owner are rejected, for good.

What stays: what a run has written in others' stores.`,
  requiredTexts: { user: ["ID", "the user whose files they are"] },
  texts: {
    run: ["ID", 'undoes what this run has changed, as "memcell history" shows it'],
    source: ["SOURCE", "undoes what came from this source, such as the address of a page"],
    since: ["TIME", "undoes all changes since a time such as 2026-11-26T10:00:00Z, or an age: 2h are two hours"],
  },
  flags: { yes: "undoes the changes", json: "prints JSON" },
  settings: runtimePaths,
  examples: [
    "memcell undo --run run-7 --user alice",
    "memcell undo --source https://example.com/ --user alice --yes",
    "memcell undo --since 2h --user alice",
  ],
  exitCodes: [
    "0 undone; without --yes: the plan is printed",
    "1 failed, with the error as JSON on standard output; or undone, but something could not be, or others have built on it",
  ],

  async run({ options, settings, terminal }) {
    const { user: userId, yes = false, json } = options;
    const which = whichOf(options);
    const opening = { besides: "all", isOwners: true, isReading: !yes } as const;
    await using runtime = await openRuntime({ settings, terminal }, userId, opening);
    const { upkeep } = runtime;
    const work = () => (yes ? upkeep.undo({ userId }, which) : upkeep.planUndo({ userId }, which));
    const plan = await withProgress(terminal, "undo", work, json);
    if (isEmpty(plan)) await refuseUnknown(runtime, userId, "undo changes");
    const { restored, trashed, builtOn } = plan;
    const paths = [...restored, ...trashed, ...builtOn.map(({ path }) => path)];
    if (json) terminal.stdout.write(`${visibleJson(plan)}\n`);
    else terminal.stdout.write(describe(plan) + (await storePlace(settings, userId, paths)));
    if (!yes) tellPlan(terminal, "undo", json);
    else if (!json) terminal.stdout.write("Undone\n");
    return yes && plan.builtOn.length + plan.left.length > 0 ? 1 : 0;
  },
});

function whichOf({ run, source, since }: { readonly [Key in keyof UndoOptions]: string | undefined }): UndoOptions {
  const given = [run, source, since].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw new UsageError(`${given.length || "none"} of --run, --source and --since are given, allowed: one`);
  return { run, source, since: since === undefined ? undefined : timeOf(since) };
}

function timeOf(text: string): Date {
  if (/^\d+[a-z]$/.test(text)) return new Date(Date.now() - ageMs("since", text));
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(time.getTime())) return time;
  const allowed = "a day, a time with its zone as in 2026-11-26T10:00:00Z, or an age as in 2h";
  throw new UsageError(`--since is ${quoted(text)}, allowed: ${allowed}`);
}

function describe({ restored, trashed, derived, builtOn, left, waiting }: UndoPlan): string {
  const lines = [
    ...restored.map((path) => `restore ${path}`),
    ...trashed.map((path) => `trash ${path}`),
    ...derived.map((path) => `update ${path}`),
    ...builtOn.map(({ path, versions }) => `keep ${path}: changed since ${changedBy(versions)}`),
    ...left.map(({ path, reason }) => `leave ${path}: ${reason}`),
    ...waiting.map(({ id, tool, paths }) => `reject ${id}: ${tool}, ${paths.join(", ")}`),
    `${restored.length} restored, ${trashed.length} to the trash, ${builtOn.length} kept, ${left.length} left, ${waiting.length} rejected`,
  ];
  return lines.map((line) => `${visibleText(line)}\n`).join("");
}

const isEmpty = (plan: UndoPlan): boolean => Object.values(plan).every((each: readonly unknown[]) => each.length === 0);

const changedBy = (versions: readonly number[]): string =>
  versions.length === 0 ? "by hand" : `by version ${versions.join(", ")}`;
