/** Moves a run to the trash, and prints the command that brings it back. */
import { counted } from "../../../shared/text.ts";
import type { SettingFlags } from "../../config/read-settings.ts";
import { flagOf } from "../../config/settings.ts";
import { visibleJson, visibleText } from "../../values/visible-text.ts";
import type { DeletedRun, RunTools, RunIds } from "./run-tools.ts";
import type { RunOutput } from "./show-run.ts";

interface Owner {
  readonly userId: string;
  /** Those of the present command, so that the run comes back where it was. */
  readonly settings: SettingFlags;
}

export async function deleteRun(tools: RunTools, ids: RunIds, owner: Owner, output: RunOutput): Promise<void> {
  const { progress, isJson } = output;
  const deleted = await tools.delete(ids);
  if (isJson) return progress.print(`${visibleJson(deleted)}\n`);
  const { files, bytes } = deleted;
  const counts = `${counted(files, "file")}, ${bytes} bytes moved to the trash`;
  progress.print(`${counts}\nTo bring the run back: ${visibleText(restoreLine(deleted, owner))}\n`);
}

/** Ready for a shell. */
function restoreLine({ scope, name }: DeletedRun, { userId, settings: { file, given } }: Owner): string {
  const words = [
    ...flag("scope", scope),
    ...flag("user", userId),
    ...(file === undefined ? [] : flag("config", file)),
    ...[...given].flatMap(([path, value]) => {
      if (typeof value === "boolean") return [`--${value ? "" : "no-"}${flagOf(path)}`];
      return [value].flat().flatMap((each) => flag(flagOf(path), each));
    }),
    ...(name.startsWith("-") ? ["--", name] : [name]),
  ];
  return `memcell trash restore ${words.map(shellWord).join(" ")}`;
}

const flag = (name: string, value: string): string[] =>
  value.startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, value];

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
