import { counted } from "../../../shared/text.ts";
import { refuseTaken } from "../../archive/archive-file.ts";
import { runtimePaths } from "../../config/settings.ts";
import type { ErasePlan, LeftOver } from "../../owner/erase-plan.ts";
import { visibleText } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { storeFolder } from "../store-place.ts";
import { tellPlan } from "../tell-plan.ts";

export const eraseCommand = defineCommand({
  name: "erase",
  description: `Erases a user for good: the user's folder with all scopes and their trash, whatever plugins are loaded; the
user's own store with its grants; and the grants that others have given to the user. Without --yes the command only
prints what it would remove.

It is all or nothing, also if the process is killed. It needs no free room on the disk. It does not follow links. Calls
of the user wait, or begin anew with an empty memory.

What stays: the audit log; what the user has written in others' stores, which their owners remove with "memcell stores
clear"; and mounted folders.

With --export, a zip file is written first, the same as "memcell export" writes. If that fails, or if it would leave
anything out, nothing is removed.`,
  requiredTexts: { user: ["ID", "the user who is erased"] },
  texts: { export: ["FILE.zip", "a file to write first; it must not exist yet"] },
  flags: { yes: "erases the user" },
  settings: runtimePaths,
  examples: ["memcell erase --user alice", "memcell erase --user alice --export alice.zip --yes"],
  exitCodes: [
    "0 erased; without --yes: there is something to erase",
    "1 failed, with the error as JSON on standard output; or erased, but something could not be removed",
  ],

  async run({ options, settings, terminal }) {
    const { yes = false, export: file } = options;
    if (file !== undefined) await refuseTaken(file);
    await using runtime = await openRuntime({ settings, terminal }, options.user, { isOwners: true, isReading: !yes });
    const ctx = { userId: options.user };
    const { left, ...plan } = await withProgress(terminal, "erase", async (progress) => {
      progress.show(yes ? "erasing" : "counting the files");
      if (yes) return await runtime.upkeep.erase(ctx, { export: file });
      return { ...(await runtime.upkeep.planErase(ctx)), left: [] };
    });
    terminal.stdout.write(describe(plan, await storeFolder(settings, ctx.userId)));
    for (const each of left) terminal.stdout.write(`could not be removed: ${shown(each)}\n`);
    if (!yes) tellPlan(terminal, "erase");
    else if (left.length > 0)
      terminal.stdout.write("Erased for all tools, but something is left: the next start tries to remove it again\n");
    else terminal.stdout.write("Erased\n");
    return left.length === 0 ? 0 : 1;
  },
});

function describe({ contents, grantees, granters, mounted, closed }: ErasePlan, folder: string | null): string {
  const sum = (of: "files" | "bytes"): number => contents.reduce((all, each) => all + each[of], 0);
  const lines = [
    ...contents.map(({ scope, files, bytes }) => `${placeOf(scope, folder)}: ${amount(files, bytes)}`),
    ...grantees.map((id) => `grant to the user with the store ${id}`),
    ...granters.map((id) => `grant of the store ${id}`),
    ...mounted.map((scope) => `${scope}: stays, because it is a mounted folder`),
    ...closed.map((each) => `cannot be opened: ${shown(each)}`),
    `${amount(sum("files"), sum("bytes"))}, ${counted(grantees.length + granters.length, "grant")}`,
  ];
  return lines.map((line) => `${visibleText(line)}\n`).join("");
}

/** `folder`: that of the own store; `null` if a database keeps it. */
function placeOf(scope: string | null, folder: string | null): string {
  if (scope === null) return "other files";
  return scope === "store" && folder !== null ? `store (${folder} in the data folder)` : scope;
}

const amount = (files: number, bytes: number): string => `${counted(files, "file")}, ${counted(bytes, "byte")}`;

const shown = ({ path, reason }: LeftOver): string => visibleText(`${path}: ${reason}`);
