import { runtimePaths } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { TrashedFile, Upkeep } from "../upkeep/upkeep.ts";
import { orCodedFailure } from "./coded-failure.ts";
import type { Command } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { parseAge } from "./parse-age.ts";
import { parseOptions } from "./parse-options.ts";
import { withProgress } from "./progress.ts";

const actions = ["list", "restore", "purge"] as const;

export const trashCommand: Command = {
  help: `Lists what tools have deleted, puts it back, or removes it for good. For the owner of the data; no tool can do it.

Usage
  memcell trash list --user ID [--json] [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell trash restore NAME --user ID [--scope SCOPE] [--data DIR] [--policy FILE] [--audit-log FILE]
  memcell trash purge --older-than AGE --user ID [--dry-run] [--data DIR] [--policy FILE] [--audit-log FILE]

Options
  --user ID          whose trash
  --scope SCOPE      whose trash to restore from (default: that which has NAME, the latest first)
  --older-than AGE   a number and s, m, h or d: 30d is thirty days
  --dry-run          says what would be purged, and purges nothing
  --json             prints JSON
  --data DIR         the data folder (default: data)
  --policy FILE      what the host is willing to grant (default: what the tools of the package need)
  --audit-log FILE   where to record what is done (default: nowhere)

These and more are settings, which an environment variable or memcell.config.json may say: "memcell config --help".

NAME is a name that "list" prints, or an entry's name for what was trashed last of it. All of it is about all scopes of
the user; "restore" takes --scope SCOPE where two have a file of one name.

Examples
  memcell trash list --user alice
  memcell trash restore editor --user alice
  memcell trash purge --older-than 30d --user alice

Exit codes
  0 done   1 failed, with the error as JSON on standard output   2 the command line makes no sense
`,

  async run(args) {
    const names = {
      texts: ["user", "older-than", "scope"],
      flags: ["json", "dry-run"],
      settings: runtimePaths,
    } as const;
    const { operands, options, settings } = parseOptions(args, names, 2);
    const [action, name] = operands;
    const ctx = { userId: options.user as string };
    const perform = performerOf(action, name, options);
    return await orCodedFailure(async () => {
      await using runtime = await openRuntime(settings, options.user);
      const files = await withProgress(`trash ${action}`, () => perform(runtime.upkeep, ctx), options.json);
      if (options.json) process.stdout.write(`${JSON.stringify(files, null, 2)}\n`);
      else for (const file of files) process.stdout.write(lineOf(file));
      return 0;
    });
  },
};

type Perform = (upkeep: Upkeep, ctx: { userId: string }) => ReturnType<Upkeep["listTrash"]>;

/** What is to be done; everything about the command line is checked before anything is opened. */
function performerOf(
  action: string | undefined,
  name: string | undefined,
  options: { readonly "older-than"?: string; readonly "dry-run"?: true; readonly scope?: string },
): Perform {
  const age = options["older-than"];
  if (action !== "restore" && name !== undefined) throw new UsageError(`unexpected argument "${name}"`);
  if (action !== "purge" && age !== undefined) throw new UsageError("--older-than is for purge");
  const { scope } = options;
  if (action !== "restore" && scope !== undefined) throw new UsageError("--scope is for restore");
  if (action !== "purge" && options["dry-run"]) throw new UsageError("--dry-run is for purge");
  switch (action) {
    case "list":
      return (upkeep, ctx) => upkeep.listTrash(ctx);
    case "restore":
      if (name === undefined) throw new UsageError("the name of what to restore is missing");
      return async (upkeep, ctx) => [await upkeep.restore(ctx, name, scope === undefined ? {} : { scope })];
    case "purge": {
      if (age === undefined) throw new UsageError("--older-than is missing");
      const beforeEpochMs = Date.now() - parseAge(age);
      if (!options["dry-run"]) return (upkeep, ctx) => upkeep.purge(ctx, { beforeEpochMs });
      return async (upkeep, ctx) => (await upkeep.listTrash(ctx)).filter(({ epochMs }) => epochMs < beforeEpochMs);
    }
    case undefined:
    default:
      throw new UsageError(
        `${action === undefined ? "no action" : `no action "${action}"`}, allowed: ${actions.join(", ")}`,
      );
  }
}

function lineOf({ scope, name, bytes, epochMs }: TrashedFile): string {
  const place = scope === "memory" ? "" : `  (of ${scope})`;
  return `${new Date(epochMs).toISOString()}  ${String(bytes).padStart(8)} bytes  ${name}${place}\n`;
}
