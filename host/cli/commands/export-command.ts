import { shownPath } from "../../../shared/encoded-name.ts";
import { counted, quoted } from "../../../shared/text.ts";
import { archivePlace, refuseTaken, writeArchive, writeFolder } from "../../archive/archive-file.ts";
import { jsonOf } from "../../archive/write-json.ts";
import { zipOf } from "../../archive/write-zip.ts";
import { readSettings } from "../../config/read-settings.ts";
import type { SettingFlags } from "../../config/read-settings.ts";
import { runtimePaths } from "../../config/settings.ts";
import { storeFor } from "../../config/store-settings.ts";
import { leadsInto } from "../../disk/leads-into.ts";
import { listOf, oneOf, optional, text } from "../../owner/field.ts";
import type { OpenExport } from "../../owner/memory-files.ts";
import { placeKey } from "../../values/change-set.ts";
import type { Place } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { defineCommand, jsonField, personsSettings, userField } from "../command.ts";
import { openForUser } from "../open-runtime.ts";
import { printResult } from "../print-told.ts";
import { withProgress } from "../progress.ts";
import { storePlace } from "../store-place.ts";

export const command = defineCommand({
  name: "export",
  description: `Writes a user's memory and trash into a file or a folder that "import" can read: a zip file, JSON, or a folder of the
files as they are ("markdown"). Each scope has its own folder in it, and so has the user's own store. It does not contain grants
("memcell stores show" lists them), nor what the user has written in other stores. No plugin decides what is exported. Each scope is a
snapshot of one moment. If tools are called meanwhile, two scopes can be from different moments.

The export names the files whose text comes from a web page or another untrusted place, so that an import does not trust them more.
What it is called must not exist yet. Only its owner can read it, and it does not contain the user's id. The same memory gives the same
bytes. Some files are left out and listed: those over 2 MiB, those that are not regular files, those with names that no plugin could
use, what lies beside the scopes, and what somebody edits by hand meanwhile. A zip file holds at most 65,534 entries and 4 GiB; JSON
and a folder hold a memory of any size.`,
  fields: {
    file: text("FILE|FOLDER", "what to write"),
    format: optional(
      oneOf(["zip", "json", "markdown"], "FORMAT", "zip, json or markdown (default: as the name ends, or zip)"),
    ),
    user: optional(userField("the user whose memory is exported (default: the only one)")),
    scopes: { ...listOf(text("NAME", "a scope to export (default: all scopes of the user)")), flag: "scope" },
    json: jsonField,
  },
  operands: ["file"],
  settings: runtimePaths,
  settingsShown: personsSettings,
  examples: ["memcell export --user alice alice.zip", "memcell export --user alice --format markdown alice"],

  async run({ input: { file, format = formatOf(file), user, scopes, json }, settings, terminal }) {
    const place = await placeOf(file, settings, user);
    const opening = { besides: "all", isOwners: true, isReading: true } as const;
    await using opened = await openForUser({ settings, terminal }, user, opening);
    const { runtime, userId } = opened;
    const { files, leftOut } = await untilInterrupted((signal) =>
      withProgress(terminal, "export", async (progress) => {
        const onProgress = (done: number, total: number): void => progress.show(`${done} of ${total} files`);
        progress.show("looking at the files");
        const found = await runtime.upkeep.openExport({ userId, signal }, { scopes, onProgress });
        if (found.files.length + found.leftOut.length === 0)
          throw new ToolError("ENTRY_NOT_FOUND", "Cannot export the memory: this user has none");
        const unfit = await write(format, place, found, signal);
        const reason = "the disk cannot hold its name";
        const all = [...found.leftOut, ...unfit.map(({ scope, path }) => ({ scope, path, reason }))];
        const isLeft = new Set(all.map(placeKey));
        return { files: found.files.filter((each) => !isLeft.has(placeKey(each))), leftOut: all };
      }),
    );
    const bytes = files.reduce((sum, each) => sum + each.bytes, 0);
    const left = leftOut.map(({ scope, path, reason }) => `left out: ${scope}/${shownPath(path)}: ${reason}`);
    const told = [...left, ...(await storePlace(settings, userId, left.join("\n")))];
    const written = `${counted(files.length, "file")}, ${bytes} bytes written`;
    printResult(terminal, json, { files: files.length, bytes, leftOut }, [...told, written]);
    return 0;
  },
});

type Format = "zip" | "json" | "markdown";

const formatOf = (file: string): Format => (file.endsWith("/") ? "markdown" : /\.json$/i.test(file) ? "json" : "zip");

/** Where the export goes. Throws if it would be taken for a part of somebody's memory there, or if something is there. */
async function placeOf(file: string, flags: SettingFlags, user: string | undefined): Promise<string> {
  const place = archivePlace(file);
  const settings = await readSettings(flags);
  const store = await storeFor(settings, user ?? settings.values["serve.user"] ?? undefined);
  const folders = "dataDir" in store ? [store.dataDir, ...store.mounts.map(({ dir }) => dir)] : [];
  if (folders.some((folder) => leadsInto(place, folder))) {
    const reason = `${quoted(file)} is in the data folder, or in a mounted one; expected a place outside`;
    throw new ToolError("INPUT_INVALID", `Cannot export the memory: ${reason}`);
  }
  await refuseTaken(place);
  return place;
}

/** Does work whose half is removed again if a person presses Ctrl-C. A second time ends the process. */
async function untilInterrupted<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  const interrupted = new ToolError("CANCELLED", "Cannot export the memory: it was interrupted");
  const onInterrupt = (): void => stop.abort(interrupted);
  for (const signal of stopSignals) process.once(signal, onInterrupt);
  try {
    return await work(stop.signal);
  } catch (error) {
    throw stop.signal.aborted ? interrupted : error;
  } finally {
    for (const signal of stopSignals) process.off(signal, onInterrupt);
  }
}

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Returns what could not be written. */
async function write(
  format: Format,
  file: string,
  exported: OpenExport,
  signal: AbortSignal,
): Promise<readonly Place[]> {
  if (format === "markdown") return await writeFolder(file, exported, signal);
  await writeArchive(file, format === "json" ? jsonOf(exported.contents()) : zipOf(exported), signal);
  return [];
}
