import { readArchive } from "../../archive/archive-file.ts";
import { readZip } from "../../archive/read-zip.ts";
import { runtimePaths } from "../../config/settings.ts";
import { flag, listOf, optional, text } from "../../owner/field.ts";
import type { ImportPlan } from "../../owner/memory-files.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import { defineCommand, jsonField, userField } from "../command.ts";
import { openForUser } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";

export const importCommand = defineCommand({
  name: "import",
  description: `Reads a zip file that "export" has made and adds its files to a user's memory. Each scope is imported as a
whole or not at all. Without --yes the command only prints what it would do.

All plugins of the package are loaded, besides those that the setting names. Scopes that none of them has are left out
and listed, and so are files whose names their plugin does not use. An existing index is kept and gets lines for new
entries; the line of a replaced entry stays as it is. Files in the trash are added, under another name if theirs is
taken. A text is trusted as "unstated" at most, and less if the zip file says so, if the file that it replaces is trusted
less, or if the same text was when it was here before. The files of an export can be packed again by any program,
also inside a folder; files can be taken out or added, and what desktops add is left out. Refused are names that are no
paths of a scope, links, encrypted entries, and what two programs would read in two ways.`,
  fields: {
    file: text("FILE.zip", "the file to import"),
    user: optional(userField("the user who gets the memory (default: the only one)")),
    scopes: { ...listOf(text("NAME", "a scope to import (default: all scopes in the file)")), flag: "scope" },
    json: jsonField,
    yes: flag("performs the import"),
    replace: flag(
      "replaces existing entries with other content and moves them to the trash; without it, the import is refused",
    ),
  },
  operands: ["file"],
  settings: runtimePaths,
  examples: ["memcell import --user bob alice.zip", "memcell import --user bob alice.zip --yes"],
  exitCodes: ["imported; without --yes: nothing is refused", "refused or failed"],

  async run({ input: { file, user, scopes, yes = false, replace = false, json }, settings, terminal }) {
    const files = await readZip(await readArchive(file));
    await using opened = await openForUser({ settings, terminal }, user, { besides: "all", isReading: !yes });
    const { runtime, userId } = opened;
    const ctx = { userId };
    const plan = await withProgress(terminal, "import", async (progress) => {
      progress.show("checking the files");
      const looked = await runtime.upkeep.planImport(ctx, files, { replace, scopes });
      if (!yes || looked.refused.length > 0) return looked;
      progress.show("writing the files");
      return await runtime.upkeep.import(ctx, files, { replace, scopes });
    });
    const isRefused = plan.refused.length > 0;
    if (json) {
      terminal.stdout.write(`${visibleJson(plan)}\n`);
      return isRefused ? 1 : 0;
    }
    terminal.stdout.write(describe(plan));
    if (isRefused) terminal.stdout.write("Nothing was changed: one refused file refuses the whole import\n");
    else if (!yes) terminal.stdout.write("Nothing was changed; use --yes to import\n");
    return isRefused ? 1 : 0;
  },
});

function describe(plan: ImportPlan): string {
  const { created, replaced, skipped, trashed, bytes, mended, leftOut, refused, refusedHidden } = plan;
  const lines = [
    ...created.map((path) => `create ${path}`),
    ...replaced.map((path) => `replace ${path}`),
    ...skipped.map((path) => `skip ${path}`),
    ...trashed.map((path) => `add ${path}`),
    ...mended.map(({ path, message, remedy }) => `mend ${path}: ${message}; ${remedy ?? ""}`),
    ...leftOut.map(({ path, reason }) => `leave out ${path}: ${reason}`),
    ...refused.map(({ path, reason }) => `refuse ${path}: ${reason}`),
    ...(refusedHidden > 0 ? [`refuse ${refusedHidden} more`] : []),
    [
      `${created.length} created, ${replaced.length} replaced, ${skipped.length} skipped`,
      `${trashed.length} added to the trash, ${leftOut.length} left out, ${refused.length + refusedHidden} refused`,
      `${bytes} bytes`,
    ].join(", "),
  ];
  return lines.map((line) => `${visibleText(line)}\n`).join("");
}
