import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";

import type { UserFolder } from "./confine.ts";
import { failureOfDisk } from "./disk-failure.ts";
import { createRegularFile } from "./regular-file.ts";

/** Writes a whole file beside the scopes, then renames it into place: a reader sees the old one or the new one. */
export function writeWhole(folder: UserFolder, target: string, content: string, shown: string): void {
  const staged = folder.makeOwn(`staged-${randomBytes(8).toString("hex")}`);
  try {
    createRegularFile(staged, content, shown);
    renameSync(staged, target);
  } catch (error) {
    rmSync(staged, { force: true });
    throw failureOfDisk(error, `write "${shown}"`);
  }
}
