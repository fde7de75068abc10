import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { checkUserId } from "../../values/user-id.ts";
import type { UserId } from "../../values/user-id.ts";
import { hostFolder, usersFolder } from "./home.ts";
import { userFolderName } from "./user-folder-name.ts";

/** Lists the users who have a folder, by its owner record or else by its name. Skips folders that are no user's. */
export function listUsers(root: DataRoot): UserId[] {
  using data = root.open();
  using users = data && data.openFolder(usersFolder);
  if (users === null) return [];
  return users.entries().flatMap(({ name, kind }) => {
    const userId = kind === "folder" ? userOf(users, name) : null;
    return userId === null ? [] : [userId];
  });
}

function userOf(users: Directory, name: string): UserId | null {
  try {
    using folder = users.openFolder(name);
    using own = folder && folder.openFolder(hostFolder);
    const recorded = own?.read("owner", "owner")?.toString("utf8");
    if (recorded !== undefined) return idOf(recorded, name);
  } catch {
    // The record or its folder cannot be read: try the folder's name.
  }
  return idFromName(name);
}

function idFromName(name: string): UserId | null {
  try {
    return idOf(decodeURIComponent(name), name);
  } catch {
    // Not our percent-encoding.
    return null;
  }
}

/** `null` if the text is not a user id, or that user has another folder. */
function idOf(text: string, folderName: string): UserId | null {
  try {
    const userId = checkUserId(text);
    return userFolderName(userId) === folderName ? userId : null;
  } catch {
    return null;
  }
}
