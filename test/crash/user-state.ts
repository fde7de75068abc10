/** The content of a user's folder, for comparisons. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { readUserFiles, userFolder } from "../support/user-files.ts";
import { userId } from "./memory-steps.ts";

export type Files = Readonly<Record<string, string>>;

/** A user's files; empty if there is no folder. */
export function filesOf(dataDir: string): Files {
  return existsSync(userFolder(dataDir, userId)) ? readUserFiles(dataDir, userId) : {};
}

/** Hides the times in the trash's names: an interrupted recovery can put the same text aside twice. */
export function describeFiles(files: Files): string {
  const named = Object.entries(files).map(
    ([path, text]) => [path.replace(/\.\d{8}T\d{9}Z\./, ".<time>."), text] as const,
  );
  return JSON.stringify(Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/** The leftovers of staging in the host's own folder. */
export function stagedFiles(dataDir: string): string[] {
  const own = join(userFolder(dataDir, userId), ".memcell");
  return existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("staged-")) : [];
}
