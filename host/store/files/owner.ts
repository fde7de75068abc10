/**
 * Who a user's folder belongs to: the exact id, in `.memcell/owner`.
 *
 * Folder names already differ for different ids, but on a disk that folds case two ids that differ by case would meet
 * in one folder. The record keeps the second one out. A mounted folder has no name of ours at all: there the record alone
 * keeps another user of another host out.
 */
import { createOverLeftover } from "../../disk/create-over-leftover.ts";
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { foldsCase, twinOf } from "./folded-case.ts";
import { hideFromGit } from "./hide-from-git.ts";
import { userFolderName } from "./user-folder-name.ts";
import { usersFolder } from "./user-folder.ts";
import type { UserHome } from "./user-folder.ts";

const ownerFile = "owner";

/**
 * Refuses a folder that records another owner; tells whether it records this one. `own` is the `.memcell` in it, or `null`
 * when there is none.
 */
export function checkOwner(own: Directory | null, home: UserHome): boolean {
  const record = own?.read(ownerFile, ownerFile) ?? null;
  if (record === null) {
    // A folder without a record was made by hand, and is the user's when its name is, letter by letter.
    if (!hasExactName(home)) throw belongsToAnother(home);
    return false;
  }
  if (record.toString("utf8") !== home.userId) throw belongsToAnother(home);
  return true;
}

/** As `checkOwner`, and records the owner when nobody has. Durable once `own` is flushed. */
export async function claimOwner(own: Directory, home: UserHome): Promise<void> {
  if (checkOwner(own, home)) return;
  if (home.mountedScope !== null) hideFromGit(own);
  const staged = "staged-owner";
  createOverLeftover(own, staged, { content: Buffer.from(home.userId), shown: ownerFile });
  {
    using file = own.openFile(staged, ownerFile, "write");
    await file?.flush();
  }
  own.rename(staged, own, ownerFile);
}

/** `false` where a disk that folds case shows another id's folder under this one's name. */
function hasExactName({ root, userId, mountedScope }: UserHome): boolean {
  if (mountedScope !== null) return true;
  using data = root.open();
  if (data === null || !foldsCase(data, usersFolder)) return true;
  using users = data.openFolder(usersFolder);
  return users === null || twinOf(users, userFolderName(userId)) === null;
}

function belongsToAnother({ mountedScope }: UserHome): ToolError {
  const shown = mountedScope === null ? "the user's folder" : "the mounted folder";
  return new ToolError("STORAGE_UNSAFE", `Cannot open ${shown}: it belongs to another user id`);
}
