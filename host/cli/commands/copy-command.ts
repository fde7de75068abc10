import { counted } from "../../../shared/text.ts";
import { readSettings } from "../../config/read-settings.ts";
import { UsageError } from "../../config/usage-error.ts";
import { isDatabaseUrl, isUrl } from "../../config/web-address.ts";
import { copyStores } from "../../copy/copy-stores.ts";
import { DiskRoot } from "../../disk/pinned-directory.ts";
import { text } from "../../owner/field.ts";
import type { StoreDefinition } from "../../store/definition.ts";
import { fileStore } from "../../store/files/define-files.ts";
import { postgresStore } from "../../store/postgres/define-postgres.ts";
import { ToolError } from "../../values/tool-error.ts";
import { defineCommand, jsonField } from "../command.ts";
import { printResult } from "../print-told.ts";
import { withProgress } from "../progress.ts";

export const command = defineCommand({
  name: "copy",
  description: `Copies everything from one place to another, each a data folder or a PostgreSQL database, also into a new folder as a
backup: for every user the files with the trash, the history, what waits for the owner and what runs have read, the own store with
its grants, and the stores that are no user's. Mounted folders are not copied, nor what no tool can read: the latter is listed. The
source stays as it is.

Each home, which is a user's scopes or one store, is copied all or nothing, read back and compared by a hash. One that is at
the target already and the same is passed over, so a run that was interrupted is completed by another one. One that is at the
target and different is not overwritten, but listed.

Stop the hosts of both places first. Otherwise homes that were edited meanwhile are listed at the end: they are at the
target as they were when they were copied. A password comes from the environment or the file of PostgreSQL, never from an
address. On a disk, files show the time of the copying as that of their last change; when they were written stays.`,
  fields: {
    from: text("PLACE", "where everything is: a data folder, or postgres://ROLE@HOST/DATABASE"),
    to: text("PLACE", "where it goes: the same"),
    json: jsonField,
  },
  settings: ["durability", "waitMs"],
  examples: [
    "memcell copy --from data --to postgres://host@localhost/memory",
    "memcell copy --from postgres://host@localhost/memory --to data",
    "memcell copy --from data --to backup",
  ],
  exitCodes: ["everything is at the target", "failed; or something was listed"],

  async run({ input, settings, terminal }) {
    const { durability, waitMs } = (await readSettings(settings)).values;
    const [source, target] = [placeOf("from", input.from, durability), placeOf("to", input.to, durability)];
    if (input.from === input.to) throw new UsageError("--from and --to are the same place");
    const report = await withProgress(terminal, "copy", async (progress) => {
      refuseMissing(source);
      for (const each of [source, target]) await each.checkMedium?.();
      const from = source.open(() => {}, everything);
      const to = target.open(() => {}, everything);
      try {
        return await copyStores({ from, to, waitMs, onProgress: (state) => progress.show(state) });
      } finally {
        await Promise.all([from.close(), to.close()]);
      }
    });
    const { copied, same, bytes, told } = report;
    printResult(terminal, input.json, report, [
      ...told.map((each) => `${each.home}: ${each.told}`),
      `${counted(copied, "home")} copied, ${bytes} bytes; ${same} already there; ${told.length} listed`,
    ]);
    return told.length === 0 ? 0 : 1;
  },
});

function placeOf(name: string, place: string, durability: "full" | "relaxed"): StoreDefinition {
  if (!isUrl(place)) return fileStore({ dir: place, durability });
  if (isDatabaseUrl(place)) return postgresStore({ url: place, durability });
  throw new UsageError(
    `--${name} is no address of a database; expected postgres://ROLE@HOST/DATABASE, without a password`,
  );
}

function refuseMissing({ location }: StoreDefinition): void {
  using folder = location.kind === "files" ? new DiskRoot(location.dir).open() : undefined;
  if (folder === null) throw new ToolError("ENTRY_NOT_FOUND", "Cannot copy: there is no such data folder");
}

/** To keep what the policy of a host keeps, nothing is aged or pruned here. */
const everything = { history: { daysMax: Infinity, bytesMax: Infinity }, clock: Date.now };
