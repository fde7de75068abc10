/** Finds the config file: the one that is named, or the user's own. Never one that merely lies in the working directory. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

import { isFolder, isNameTaken } from "../disk/bounded-file.ts";
import { UsageError } from "./usage-error.ts";

/** The variable that names the config file. */
export const fileVariable = "MEMCELL_CONFIG";

/** Its name in a folder that `--config` names. */
const fileInFolder = "memcell.config.json";

/** What `--config` says, and the environment. */
interface ConfigNames {
  readonly file?: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

export interface FoundConfig {
  readonly file: string;
  readonly mayBeAbsent: boolean;
}

/**
 * Returns the file that `--config` or `MEMCELL_CONFIG` names, or that is in the folder which they name. Otherwise the
 * user's own, `memcell/config.json` in `$XDG_CONFIG_HOME` (default `~/.config`; on Windows `%APPDATA%`), which need not
 * exist. `null` if the user has no such folder. Throws `UsageError`.
 */
export async function findConfigFile(names: ConfigNames): Promise<FoundConfig | null> {
  const named = namedFile(names);
  if (named !== undefined)
    return { file: (await isFolder(named)) ? join(named, fileInFolder) : named, mayBeAbsent: false };
  const folder = userFolder(names.environment);
  return folder === null ? null : { file: join(folder, "memcell", "config.json"), mayBeAbsent: true };
}

/** Whether the working directory has a config file that is not read: whoever made the folder can have put it there. */
export async function isFileIgnored(names: ConfigNames): Promise<boolean> {
  return namedFile(names) === undefined && (await isNameTaken(fileInFolder));
}

function namedFile({ file, environment }: ConfigNames): string | undefined {
  const named = file ?? environment[fileVariable];
  if (named === undefined || !/^$|\0/.test(named)) return named;
  throw new UsageError(`${file === undefined ? fileVariable : "--config"} is not the name of a file`);
}

function userFolder(environment: NodeJS.ProcessEnv): string | null {
  const named = environment[process.platform === "win32" ? "APPDATA" : "XDG_CONFIG_HOME"] ?? "";
  // The specification of XDG ignores a relative path.
  if (isAbsolute(named)) return named;
  const home = environment["HOME"] ?? homeOfAccount();
  return isAbsolute(home) ? join(home, ".config") : null;
}

function homeOfAccount(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}
