import { counted } from "../../../shared/text.ts";
import { readSettings } from "../../config/read-settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { isDatabaseUrl, isUrl } from "../../config/web-address.ts";
import { copyStores } from "../../copy/copy-stores.ts";
import { openCopy } from "../../store/open-copy.ts";
import type { CopyPlace } from "../../store/open-copy.ts";
import { visibleText } from "../../values/visible-text.ts";
import { defineCommand } from "../command.ts";
import { withProgress } from "../progress.ts";

export const copyCommand = defineCommand({
  name: "copy",
  description: `Copies everything between a data folder and a PostgreSQL database: for every user the files with the trash, the
history, what waits for the owner and what runs have read, the own store with its grants, and the stores that are no user's.
Mounted folders are not copied, nor what no tool can read: the latter is listed. The source stays as it is.

Each home, which is a user's scopes or one store, is copied all or nothing, read back and compared by a hash. One that is at
the target already and the same is passed over, so a run that was interrupted is completed by another one. One that is at the
target and different is not overwritten, but listed.

Stop the hosts of both places first. Otherwise homes that were edited meanwhile are listed at the end: they are at the
target as they were when they were copied. A password comes from the environment or the file of PostgreSQL, never from an
address. On a disk, files show the time of the copying as that of their last change; when they were written stays.`,
  requiredTexts: {
    from: ["PLACE", "where everything is: a data folder, or postgres://ROLE@HOST/DATABASE"],
    to: ["PLACE", "where it goes: the same"],
  },
  settings: ["durability", "waitMs"],
  examples: [
    "memcell copy --from data --to postgres://host@localhost/memory",
    "memcell copy --from postgres://host@localhost/memory --to data",
  ],
  exitCodes: [
    "0 everything is at the target",
    "1 failed, with the error as JSON on standard output; or something was listed",
  ],

  async run({ options, settings, terminal }) {
    const [from, to] = [placeOf("from", options.from), placeOf("to", options.to)];
    if (JSON.stringify(from) === JSON.stringify(to)) throw new UsageError("--from and --to are the same place");
    const { durability, waitMs } = (await readSettings(settings)).values;
    const { copied, same, bytes, told } = await withProgress(terminal, "copy", async (progress) => {
      const copying = { durability, waitMs };
      await using source = await openCopy(from, copying, true);
      await using target = await openCopy(to, copying, false);
      return await copyStores({ from: source, to: target, onProgress: (state) => progress.show(state) });
    });
    for (const each of told) terminal.stdout.write(`${visibleText(`${each.home}: ${each.told}`)}\n`);
    const counts = `${counted(copied, "home")} copied, ${bytes} bytes; ${same} already there; ${told.length} listed`;
    terminal.stdout.write(`${counts}\n`);
    return told.length === 0 ? 0 : 1;
  },
});

function placeOf(name: string, text: string): CopyPlace {
  if (text === "") throw new UsageError(`--${name} is empty, allowed: a data folder, or postgres://ROLE@HOST/DATABASE`);
  if (!isUrl(text)) return { dir: text };
  if (isDatabaseUrl(text)) return { url: text };
  throw new UsageError(
    `--${name} is no address of a database, allowed: postgres://ROLE@HOST/DATABASE, without a password`,
  );
}
