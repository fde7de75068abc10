import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { TrashedFile, Upkeep } from "../upkeep/upkeep.ts";
import { visibleJson } from "../values/visible-text.ts";
import { ageMs } from "./age.ts";
import { defineCommand } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { withProgress } from "./progress.ts";
import { storePlace } from "./store-place.ts";

export const trashCommand = defineCommand({
  name: "trash",
  description: `Lists files that tools have deleted or people have put into the trash, restores them, or removes them for
good. For the owner of the data; tools cannot do this.

"list" and "purge" cover all scopes of the user and print the scope of each file. "restore" prints the named file. If a
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
  flags: { dryRun: "prints what would be purged, and purges nothing", json: "prints JSON" },
  settings: runtimePaths,
  examples: [
    "memcell trash list --user alice",
    "memcell trash restore editor --user alice",
    "memcell trash restore my-agent/run-7 --scope runs --user alice",
    "memcell trash restore notes/plan.md --scope store --user alice",
    "memcell trash purge --older-than 30d --user alice",
  ],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [action, name], options, settings }) {
    const ctx = { userId: options.user };
    const perform = performerOf(action, name, options);
    await using runtime = await openRuntime(settings, options.user, { besides: "all" });
    const files = await withProgress(`trash ${action}`, () => perform(runtime.upkeep, ctx), options.json);
    if (options.json) process.stdout.write(`${visibleJson(files)}\n`);
    else process.stdout.write(listOf(files, ctx.userId));
    return 0;
  },
});

type Perform = (upkeep: Upkeep, ctx: { userId: string }) => ReturnType<Upkeep["listTrash"]>;

/** Returns the action to perform. Checks the whole command line before anything is opened. */
function performerOf(
  action: string | undefined,
  name: string | undefined,
  { olderThan: age, dryRun, scope }: { readonly olderThan?: string; readonly dryRun?: true; readonly scope?: string },
): Perform {
  if (action !== "restore" && name !== undefined) throw new UsageError(`unexpected argument "${name}"`);
  if (action !== "purge" && age !== undefined) throw new UsageError("--older-than is for purge");
  if (action !== "restore" && scope !== undefined) throw new UsageError("--scope is for restore");
  if (action !== "purge" && dryRun) throw new UsageError("--dry-run is for purge");
  switch (action) {
    case "list":
      return (upkeep, ctx) => upkeep.listTrash(ctx);
    case "restore":
      if (name === undefined) throw new UsageError("the name of what to restore is missing");
      return async (upkeep, ctx) => [await upkeep.restore(ctx, name, scope === undefined ? {} : { scope })];
    case "purge": {
      if (age === undefined) throw new UsageError("--older-than is missing");
      const beforeEpochMs = Date.now() - ageMs("older-than", age);
      if (!dryRun) return (upkeep, ctx) => upkeep.purge(ctx, { beforeEpochMs });
      return async (upkeep, ctx) => (await upkeep.listTrash(ctx)).filter(({ epochMs }) => epochMs < beforeEpochMs);
    }
    case undefined:
    default:
      throw new UsageError(`no action "${action}", allowed: list, restore, purge`);
  }
}

function listOf(files: readonly TrashedFile[], userId: string): string {
  const scopes = files.map(({ scope }) => scope);
  return files.map(lineOf).join("") + storePlace(userId, scopes);
}

function lineOf({ scope, name, bytes, epochMs }: TrashedFile): string {
  return `${new Date(epochMs).toISOString()}  ${String(bytes).padStart(8)} bytes  ${name}  (${scope})\n`;
}
