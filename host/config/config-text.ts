/** The text of the config file, within bounds; what it says is for `config-file.ts`. */
import { configLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import { isNameTaken, readBoundedFile } from "../disk/bounded-file.ts";
import { shownName } from "./file-places.ts";
import { UsageError } from "./usage-error.ts";

/** What is looked for in the present folder when no other file is named. */
export const defaultFile = "memcell.config.json";

export interface ConfigText {
  readonly file: string;
  readonly text: string;
}

/**
 * Reads the file that is named, which must be there, or else the default one, which need not be: `null` without it.
 * Throws `UsageError` for one that cannot be read.
 */
export async function readConfigText(named: string | undefined): Promise<ConfigText | null> {
  const file = named ?? defaultFile;
  const bytes = await readBytes(file, named === undefined);
  if (bytes === null) return null;
  try {
    return { file, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    throw new UsageError(`cannot use ${quoted(shownName(file))}: it is not UTF-8`, { cause: error });
  }
}

async function readBytes(file: string, mayBeAbsent: boolean): Promise<Uint8Array | null> {
  const name = quoted(shownName(file));
  try {
    const read = await readBoundedFile(file, configLimits.fileBytesMax);
    if (read.kind === "unfit") throw new UsageError(`cannot use ${name}: ${read.reason}`);
    return read.bytes;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    if (mayBeAbsent && code === "ENOENT" && !(await isNameTaken(file))) return null;
    throw new UsageError(`cannot use ${name}: it cannot be read (${code})`, { cause: error });
  }
}
