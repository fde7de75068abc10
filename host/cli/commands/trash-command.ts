import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { TrashedFile, Upkeep } from "../../owner/upkeep.ts";
import { visibleJson } from "../../values/visible-text.ts";
import { ageMs } from "../age.ts";
import { defineCommand } from "../command.ts";
import { openRuntime, refuseUnknown } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { storePlace } from "../store-place.ts";
import { tellPlan } from "../tell-plan.ts";

export const trashCommand = defineCommand({
  name: "trash",
  description: `Lists files that tools have deleted or people have put into the trash, restores them, or removes them for
good. For the owner of the data; tools cannot do this.

"list" and "purge" cover all scopes of the user and print the scope of each file. Without --yes, "purge" only prints what it
would remove. "restore" prints the named file. If a
plugin keeps an entry in several files, such as a run of an agent, all that were deleted together come back. All plugins
of the package are loaded, besides those that the setting names.`,
  operands: {
    "<list|restore|purge>": "what to do",
    "[NAME]":
      'what to restore: a name that "list" prints, or the path that a file had, or the name of an entry (not in "store"); ' +
      "the last two mean the latest trashed file",
  },
  requiredTexts: { user: ["ID", "the user whose trash it is"] },
  texts: {
    scope: ["SCOPE", "the scope to restore from (default: all scopes; the latest file with NAME is restored)"],
    olderThan: ["AGE", "purges files older than this: a number and s, m, h or d; 30d is thirty days"],
  },
  flags: {
    yes: "purges the files for good",
    dryRun: "prints what would be purged, as without --yes",
    json: "prints JSON",
  },
  settings: runtimePaths,
  examples: [
    "memcell trash list --user alice",
    "memcell trash restore editor --user alice",
    "memcell trash restore my-agent/run-7 --scope runs --user alice",
    "memcell trash restore notes/plan.md --scope store --user alice",
    "memcell trash purge --older-than 30d --user alice",
    "memcell trash purge --older-than 30d --user alice --yes",
  ],
  exitCodes: [
    "0 done; purge without --yes: the plan is printed",
    "1 failed, with the error as JSON on standard output",
  ],

  async run({ operands: [action, name], options, settings, terminal }) {
    const { user: userId, json, yes = false } = options;
    const perform = performerOf(action, name, options);
    const isPlan = action === "purge" && !yes;
    const opening = { besides: "all", isOwners: true, isReading: action === "list" || isPlan } as const;
    await using runtime = await openRuntime({ settings, terminal }, userId, opening);
    const files = await withProgress(terminal, `trash ${action}`, () => perform(runtime.upkeep, { userId }), json);
    if (files.length === 0) await refuseUnknown(runtime, userId, `${action} the trash`);
    const scopes = files.map(({ scope }) => scope);
    terminal.stdout.write(
      json ? `${visibleJson(files)}\n` : files.map(lineOf).join("") + (await storePlace(settings, userId, scopes)),
    );
    if (isPlan) tellPlan(terminal, "purge", json);
    return 0;
  },
});

interface Options {
  readonly olderThan?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly scope?: string;
}

type Perform = (upkeep: Upkeep, ctx: { userId: string }) => ReturnType<Upkeep["listTrash"]>;

/** Returns the action to perform. Checks the whole command line before anything is opened. */
function performerOf(
  action: string | undefined,
  name: string | undefined,
  { olderThan: age, yes, dryRun, scope }: Options,
): Perform {
  if (action !== "restore" && name !== undefined) throw new UsageError(`unexpected argument "${name}"`);
  if (action !== "purge" && age !== undefined) throw new UsageError("--older-than is for purge");
  if (action !== "restore" && scope !== undefined) throw new UsageError("--scope is for restore");
  if (action !== "purge" && dryRun) throw new UsageError("--dry-run is for purge");
  if (action !== "purge" && yes) throw new UsageError("--yes is for purge");
  if (yes && dryRun) throw new UsageError("--yes and --dry-run do not go together");
  switch (action) {
    case "list":
      return (upkeep, ctx) => upkeep.listTrash(ctx);
    case "restore":
      if (name === undefined) throw new UsageError("the name of what to restore is missing");
      return async (upkeep, ctx) => [await upkeep.restore(ctx, name, scope === undefined ? {} : { scope })];
    case "purge": {
      if (age === undefined) throw new UsageError("--older-than is missing");
      const beforeEpochMs = Date.now() - ageMs("older-than", age);
      if (yes) return (upkeep, ctx) => upkeep.purge(ctx, { beforeEpochMs });
      return async (upkeep, ctx) => (await upkeep.listTrash(ctx)).filter(({ epochMs }) => epochMs < beforeEpochMs);
    }
    case undefined:
    default:
      throw new UsageError(`no action "${action}", allowed: list, restore, purge`);
  }
}

function lineOf({ scope, name, bytes, epochMs }: TrashedFile): string {
  return `${new Date(epochMs).toISOString()}  ${String(bytes).padStart(8)} bytes  ${name}  (${scope})\n`;
}
