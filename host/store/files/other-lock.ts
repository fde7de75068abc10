import { isIn } from "../../disk/leads-into.ts";
import type { Located } from "../../disk/leads-into.ts";
import { ignoreFile } from "./hide-from-git.ts";
import { hostFolder, usersFolder } from "./user-folder.ts";

/**
 * Whether a folder, told by the way up from it, belongs to a place that has a lock already: it lies in what a host has
 * mounted or in a user's folder, or is one. With a lock of its own besides, two hosts would write to its files at once.
 */
export function hasOtherLock([folder, ...above]: readonly Located[]): boolean {
  if (above.some((each) => isIn(each, hostFolder))) return true;
  if (folder === undefined || above[0]?.name !== usersFolder) return false;
  // A mounted folder that happens to be called so is told by what a user's has not.
  return isIn(folder, hostFolder) && !isIn(folder, hostFolder, ignoreFile);
}
