import { isIn } from "../../disk/leads-into.ts";
import type { Located } from "../../disk/leads-into.ts";
import { ignoreFile } from "./hide-from-git.ts";
import { hostFolder, storesFolder, usersFolder } from "./home.ts";

/**
 * Whether a folder already has a lock: it is a user's folder or a shared store, or is inside one or inside a mounted
 * folder. With a second lock, two hosts could write to its files at once. Takes the folder and all folders above it.
 */
export function hasOtherLock([folder, ...above]: readonly Located[]): boolean {
  if (above.some((each) => isIn(each, hostFolder))) return true;
  if (folder === undefined || ![usersFolder, storesFolder].includes(above[0]?.name ?? "")) return false;
  // A mounted folder can also be inside a folder with such a name. Only a mounted folder has the ignore file.
  return isIn(folder, hostFolder) && !isIn(folder, hostFolder, ignoreFile);
}
