import { mkdirSync, readdirSync } from "node:fs";

import { systemCode } from "./disk-failure.ts";
import type { FolderHandle } from "./folder-handle.ts";
import { giveToOwnerOf, permit } from "./permissions.ts";
import type { Permissions } from "./permissions.ts";

/**
 * Makes a folder in an open one, unless something has this name: another process can be making it, too. By default only
 * its owner can use it.
 */
export function makeFolderIn(above: FolderHandle, name: string, like: Permissions | null = null): void {
  try {
    mkdirSync(above.child(name), { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    throw error;
  }
  if (process.platform === "win32") return;
  using made = above.openChild(name);
  // If somebody has put another folder in its place meanwhile, nothing in that one changes hands.
  if (readdirSync(made.itself()).length > 0) return;
  if (like === null) giveToOwnerOf(above, made);
  else permit(made.descriptor, like);
}
