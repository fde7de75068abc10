import { isIn } from "../../disk/leads-into.ts";
import type { Located } from "../../disk/leads-into.ts";
import { ignoreFile } from "./hide-from-git.ts";
import { hostFolder, usersFolder } from "./user-folder.ts";

/**
 * Whether a folder already has a lock: it is a user's folder, or is inside one or inside a mounted folder. With a
 * second lock, two hosts could write to its files at once. Takes the folder and all folders above it.
 */
export function hasOtherLock([folder, ...above]: readonly Located[]): boolean {
  if (above.some((each) => isIn(each, hostFolder))) return true;
  if (folder === undefined || above[0]?.name !== usersFolder) return false;
  // A mounted folder can also be inside a folder called `users`. Only a mounted folder has the ignore file.
  return isIn(folder, hostFolder) && !isIn(folder, hostFolder, ignoreFile);
}
