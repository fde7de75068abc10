/**
 * Who a user's folder belongs to: the exact id, in `.memcell/owner`.
 *
 * Folder names already differ for different ids, but on a disk that folds case two ids that differ by case would meet
 * in one folder. The record keeps the second one out.
 */
import { ToolError } from "../../tool-error.ts";
import type { UserId } from "../../user-id.ts";
import type { UserFolder } from "./confine.ts";
import { readRegularFile } from "./regular-file.ts";
import { writeWhole } from "./write-whole.ts";

/** Refuses a folder that records another owner. One without a record was made by hand, and anyone's id may claim it. */
export function checkOwner(folder: UserFolder, userId: UserId): boolean {
  const place = folder.findOwn("owner");
  const record = place === null ? null : readRegularFile(place, "owner");
  if (record === null) return false;
  if (record.toString("utf8") !== userId) {
    throw new ToolError("STORAGE_UNSAFE", "Cannot open the user's folder: it belongs to another user id");
  }
  return true;
}

/** As `checkOwner`, and records the owner when nobody has. */
export function claimOwner(folder: UserFolder, userId: UserId): void {
  if (!checkOwner(folder, userId)) writeWhole(folder, folder.makeOwn("owner"), userId, "owner");
}
