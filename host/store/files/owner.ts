import { createOverLeftover } from "../../disk/create-over-leftover.ts";
import type { Directory } from "../../disk/directory.ts";
/**
 * Who a user's folder belongs to: the exact id, in `.memcell/owner`.
 *
 * Folder names already differ for different ids, but on a disk that folds case two ids that differ by case would meet
 * in one folder. The record keeps the second one out. A mounted folder has no name of ours at all: there the record alone
 * keeps another user of another host out.
 */
import { ToolError } from "../../values/tool-error.ts";
import { hideFromGit } from "./hide-from-git.ts";
import type { UserFolder } from "./user-folder.ts";

const ownerFile = "owner";

/** Refuses a folder that records another owner; tells whether it records this one. */
export function checkOwner(folder: UserFolder): boolean {
  using own = folder.openOwn();
  return checkOwnerIn(own, folder);
}

/** The same, by the folder's own `.memcell`, which is open already; `null` when there is none. */
export function checkOwnerIn(own: Directory | null, folder: UserFolder): boolean {
  const record = own?.read(ownerFile, ownerFile) ?? null;
  if (record === null) {
    // A folder without a record was made by hand, and is the user's when its name is, letter by letter.
    if (!folder.isExact()) throw belongsToAnother(folder);
    return false;
  }
  if (record.toString("utf8") !== folder.userId) throw belongsToAnother(folder);
  return true;
}

/** As `checkOwner`, and records the owner when nobody has. Durable once `own` is flushed. */
export async function claimOwner(folder: UserFolder, own: Directory): Promise<void> {
  if (checkOwnerIn(own, folder)) return;
  if (folder.mountedScope !== null) hideFromGit(own);
  const staged = "staged-owner";
  createOverLeftover(own, staged, { content: Buffer.from(folder.userId), shown: ownerFile });
  {
    using file = own.openFile(staged, ownerFile, "write");
    await file?.flush();
  }
  own.rename(staged, own, ownerFile);
}

function belongsToAnother({ shown }: UserFolder): ToolError {
  return new ToolError("STORAGE_UNSAFE", `Cannot open ${shown}: it belongs to another user id`);
}
