import { shownPath } from "../../../shared/encoded-name.ts";
import { counted } from "../../../shared/text.ts";
import { openSource } from "../../archive/read-source.ts";
import type { Source } from "../../archive/read-source.ts";
import { runtimePaths } from "../../config/settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { flag, listOf, optional, text } from "../../owner/field.ts";
import type { ImportPlan, MoveInPlan } from "../../owner/memory-files.ts";
import { moveIn } from "../../owner/move-in.ts";
import { countsOf } from "../../owner/told.ts";
import type { LeftFile } from "../../owner/undo-plan.ts";
import { defineCommand, jsonField, personsSettings, userField } from "../command.ts";
import { openForUser } from "../open-runtime.ts";
import { printResult } from "../print-told.ts";
import { withProgress } from "../progress.ts";

export const command = defineCommand({
  name: "import",
  description: `Adds to a user's memory what is in a file or a folder. It says first what that is, and without --yes it only prints
what it would do.

From other programs: the memory folder of Claude Code, a folder of Claude's memory tool, notes of Obsidian and basic-memory, a folder
of Markdown, the JSON of mem0, and the memories of ChatGPT or Claude as text, one a line. Each becomes an entry with a name of its
own; nothing that is there is overwritten, and the same again changes nothing. --from says whose texts they are: those of "me" are
trusted as if you had written them here, and others as little as they deserve.

From memcell: what "export" has written, whatever program has packed it again; files can be taken out or added. Each scope is imported
as a whole or not at all. All plugins of the package are loaded, besides those that the setting names. Scopes that none of them has
are left out and listed, and so are files whose names their plugin does not use. An existing index is kept and gets lines for new
entries. Files in the trash are added, under another name if theirs is taken. A text is trusted as "unstated" at most, and less if
the export says so, if the file that it replaces is trusted less, or if the same text was when it was here before. Refused are names
that are no paths of a scope, links, encrypted entries, and what two programs would read in two ways. A zip file and a folder can have
any size, and JSON at most 186 MiB.`,
  fields: {
    source: text("FILE|FOLDER", "what to import"),
    user: optional(userField("the user who gets the memory (default: the only one)")),
    from: moveIn.fields.from,
    format: moveIn.fields.format,
    scopes: { ...listOf(text("NAME", "a scope to import (default: all scopes of the export)")), flag: "scope" },
    json: jsonField,
    yes: flag("performs the import"),
    replace: flag(
      "replaces existing entries with other content and moves them to the trash; without it, the import is refused",
    ),
  },
  operands: ["source"],
  settings: runtimePaths,
  settingsShown: personsSettings,
  examples: [
    "memcell import ~/.claude/projects/my-project/memory",
    "memcell import memories.txt --from me --yes",
    "memcell import --user bob alice.zip --yes",
  ],
  exitCodes: ["imported; without --yes: nothing is refused", "refused or failed"],

  async run({ input: { source, user, scopes, yes = false, replace, from, format, json }, settings, terminal }) {
    await using found = await openSource(source);
    const forExport = scopes !== undefined || replace !== undefined;
    if (found.kind === "foreign" && forExport) throw new UsageError("--scope and --replace are only for an export");
    if (found.kind === "export" && (from ?? format) !== undefined)
      throw new UsageError("--from and --format are not for an export, which tells that itself");
    await using opened = await openForUser({ settings, terminal }, user, { besides: "all", isReading: !yes });
    const { runtime, userId } = opened;
    const { upkeep } = runtime;
    const ctx = { userId };
    const act = (isPlan: boolean): Promise<ImportPlan | MoveInPlan> =>
      found.kind === "export"
        ? upkeep[isPlan ? "planImport" : "import"](ctx, found.files, { replace, scopes })
        : upkeep[isPlan ? "planMoveIn" : "moveIn"](ctx, found.files, { from, format });
    const plan = await withProgress(terminal, "import", async (progress) => {
      progress.show("checking the files");
      const looked = await act(true);
      if (!yes || looked.refused.length > 0) return looked;
      progress.show("writing the files");
      return await act(false);
    });
    const outcome = outcomeOf(plan, yes);
    printResult(terminal, json, plan, [...describe(plan, found), ...outcome]);
    if (json && outcome.includes(unchanged)) terminal.stderr.write(`${unchanged}\n`);
    return plan.refused.length > 0 ? 1 : 0;
  },
});

/** What the plugin of the package calls each format, in a person's words. */
const formatWords: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "claude-code": "a memory of Claude Code",
    "claude-memory": "a folder of Claude's memory tool",
    obsidian: "a vault of Obsidian",
    markdown: "a folder of Markdown notes",
    mem0: "an export of mem0",
    list: "a list of memories",
  }),
);

const unchanged = "Nothing was changed; use --yes to import";

function outcomeOf({ created, replaced, trashed, mended, refused }: ImportPlan, isDone: boolean): string[] {
  if (refused.length > 0) return ["Nothing was changed: one refused file refuses the whole import"];
  if ([created, replaced, trashed, mended].every(({ length }) => length === 0)) return ["Nothing is to be imported"];
  return isDone ? [] : [unchanged];
}

function describe(plan: ImportPlan | MoveInPlan, source: Source): string[] {
  const { created, replaced, skipped, trashed, bytes, mended, leftOut, refused, refusedHidden } = plan;
  const beside = source.kind === "export" ? source.leftOut : [];
  const left = [...beside, ...("left" in plan ? plan.left : []), ...leftOut];
  const lines = [
    "format" in plan
      ? `This is ${formatWords.get(plan.format) ?? plan.format}: ${counted(plan.found, "file")}`
      : `This is an export of memcell: ${counted(source.files.length, "file")}`,
    ...created.map((path) => `create ${shownPath(path)}`),
    ...replaced.map((path) => `replace ${shownPath(path)}`),
    ...skipped.map((path) => `skip ${shownPath(path)}`),
    ...trashed.map((path) => `add ${shownPath(path)}`),
    ...mended.map(({ path, message, remedy }) => `mend ${shownPath(path)}: ${message}; ${remedy ?? ""}`),
    ...byReason(left),
    ...refused.map(({ path, reason }) => `refuse ${shownPath(path)}: ${reason}`),
    ...(refusedHidden > 0 ? [`refuse ${refusedHidden} more`] : []),
    countsOf({
      created,
      replaced,
      skipped,
      "added to the trash": trashed,
      "left out": left,
      refused: { length: refused.length + refusedHidden },
      bytes: { length: bytes },
    }),
  ];
  return lines.filter((line) => line !== "");
}

/** What is left, each with its reason. Of many with the same reason only some are named. */
function byReason(left: readonly LeftFile[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const { path, reason } of left) reasons.set(reason, [...(reasons.get(reason) ?? []), path]);
  return Array.from(reasons, ([reason, paths]) => {
    const more = paths.length - namedMax;
    return [
      ...paths.slice(0, namedMax).map((path) => `leave out ${shownPath(path)}: ${reason}`),
      ...(more > 0 ? [`leave out ${more} more: ${reason}`] : []),
    ];
  }).flat();
}

const namedMax = 10;
