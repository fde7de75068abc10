/** What a user's folder holds, for comparing. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { readUserFiles, userFolder } from "../support/user-files.ts";
import { userId } from "./memory-steps.ts";

export type Files = Readonly<Record<string, string>>;

/** A user's files, none when there is no folder yet. */
export function filesOf(dataDir: string): Files {
  return existsSync(userFolder(dataDir, userId)) ? readUserFiles(dataDir, userId) : {};
}

/** A recovery that was cut short and done again may have put the same text aside twice, under names that tell the time. */
export function describeFiles(files: Files): string {
  const named = Object.entries(files).map(
    ([path, text]) => [path.replace(/\.\d{8}T\d{9}Z\./, ".<time>."), text] as const,
  );
  return JSON.stringify(Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/** What staging has left behind in the host's own folder. */
export function stagedFiles(dataDir: string): string[] {
  const own = join(userFolder(dataDir, userId), ".memcell");
  return existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("staged-")) : [];
}
