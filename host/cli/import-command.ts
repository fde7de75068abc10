import { readArchive } from "../archive/archive-file.ts";
import { readZip } from "../archive/read-zip.ts";
import { runtimePaths } from "../config/settings.ts";
import type { ImportPlan } from "../upkeep/memory-files.ts";
import { visibleText } from "../values/visible-text.ts";
import { defineCommand } from "./command.ts";
import { openRuntime } from "./open-runtime.ts";
import { withProgress } from "./progress.ts";

export const importCommand = defineCommand({
  name: "import",
  description: `Adds the memory in a zip file that "export" has written to a user's: of each scope all, or nothing. Without --yes it
only says what it would do.

Scopes that no loaded plugin has, and files under names that their plugin keeps nothing under, are left out and named. An
index that is there is kept and gets lines for new entries; the line of an entry that is replaced stays as it is. Files in
the trash are added, under another name where theirs is taken. A zip file that any other program has changed may be refused:
its entries must lie side by side, be told twice alike, and be nothing but files of memory.`,
  operands: { "<FILE.zip>": "the file to import" },
  texts: { user: ["ID", "whose memory; it need not be the one that was exported"] },
  lists: { scope: ["NAME", "what to import of it (default: all scopes in the file)"] },
  flags: {
    yes: "does it",
    replace: "moves entries that are there with other content to the trash; without, they refuse the import",
  },
  settings: runtimePaths,
  examples: ["memcell import --user bob alice.zip", "memcell import --user bob alice.zip --yes"],
  exitCodes: ["0 done, or it would be", "1 refused or failed; a failure is JSON on standard output"],

  async run({ operands: [file = ""], options, settings }) {
    const files = await readZip(await readArchive(file));
    await using runtime = await openRuntime(settings, options.user);
    const ctx = { userId: options.user as string };
    const { replace = false, yes = false, scope: scopes } = options;
    const plan = await withProgress("import", async (progress) => {
      progress.show("looking at the files");
      const looked = await runtime.upkeep.planImport(ctx, files, { replace, scopes });
      if (!yes || looked.refused.length > 0) return looked;
      progress.show("writing the files");
      return await runtime.upkeep.import(ctx, files, { replace, scopes });
    });
    const isRefused = plan.refused.length > 0;
    process.stdout.write(describe(plan));
    if (isRefused) process.stdout.write("Nothing was changed: what is refused keeps all of it out\n");
    else if (!yes) process.stdout.write("Nothing was changed; --yes does it\n");
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
