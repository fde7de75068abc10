import { counted } from "../../../shared/text.ts";
import { refuseTaken, writeArchive } from "../../archive/archive-file.ts";
import { zipOf } from "../../archive/write-zip.ts";
import { runtimePaths } from "../../config/settings.ts";
import { ToolError } from "../../values/tool-error.ts";
import { visibleText } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { openRuntime } from "../open-runtime.ts";
import { withProgress } from "../progress.ts";
import { storePlace } from "../store-place.ts";

export const exportCommand = defineCommand({
  name: "export",
  description: `Writes a user's memory and trash into a zip file that "import" can read. Each scope has its own folder
in it, and so has the user's own store. It does not contain grants ("memcell stores show" lists them), nor what the user
has written in other stores. No plugin decides what is exported. Each scope is a snapshot of one moment. If tools are
called meanwhile, two scopes can be from different moments.

The zip file names the files whose text comes from a web page or another untrusted place, so that an import does not trust
them more. FILE.zip must not exist yet. Only its owner can read it, and it does not contain the user's id. The same memory gives
the same bytes. Some files are left out and listed: those over 2 MiB, those that are not regular files, those with
names that no plugin could use, and what lies beside the scopes. An export holds at most 128 MiB and 60,000 files; use --scope to export only some
scopes.`,
  operands: { "<FILE.zip>": "the file to write" },
  requiredTexts: { user: ["ID", "the user whose memory is exported"] },
  lists: { scope: ["NAME", "a scope to export (default: all scopes of the user)"] },
  settings: runtimePaths,
  examples: ["memcell export --user alice alice.zip", "memcell export --user alice --scope notes notes.zip"],
  exitCodes: ["0 done", "1 failed, with the error as JSON on standard output"],

  async run({ operands: [file = ""], options, settings, terminal }) {
    await refuseTaken(file);
    await using runtime = await openRuntime({ settings, terminal }, options.user, {
      besides: "all",
      isOwners: true,
      isReading: true,
    });
    const ctx = { userId: options.user };
    const { files, leftOut } = await withProgress(terminal, "export", async (progress) => {
      const onProgress = (done: number, total: number): void => progress.show(`${done} of ${total} files`);
      const exported = await runtime.upkeep.export(ctx, { scopes: options.scope, onProgress });
      if (exported.files.length + exported.leftOut.length > 0) await writeArchive(file, zipOf(exported.files));
      return exported;
    });
    if (files.length + leftOut.length === 0) {
      throw new ToolError("ENTRY_NOT_FOUND", "Cannot export the memory: this user has none");
    }
    for (const { scope, path, reason } of leftOut) {
      const place = path === "" ? scope : `${scope}/${path}`;
      terminal.stdout.write(`${visibleText(`left out: ${place}: ${reason}`)}\n`);
    }
    const scopes = leftOut.map(({ scope }) => scope);
    terminal.stdout.write(await storePlace(settings, ctx.userId, scopes));
    const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
    terminal.stdout.write(`${counted(files.length, "file")}, ${bytes} bytes written\n`);
    return 0;
  },
});
