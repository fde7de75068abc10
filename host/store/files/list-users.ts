import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { checkUserId } from "../../values/user-id.ts";
import type { UserId } from "../../values/user-id.ts";
import { hostFolder, userFolderName, usersFolder } from "./user-folder.ts";

/** The users who have a folder: by its owner record, else by its name. What is no user's folder is passed over. */
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
    // The record, or the folder it lies in, is not to be read. The name may tell.
  }
  return idFromName(name);
}

function idFromName(name: string): UserId | null {
  try {
    return idOf(decodeURIComponent(name), name);
  } catch {
    // No percent-encoding of ours.
    return null;
  }
}

/** `null` for what is no user's id, or has another folder. */
function idOf(text: string, folderName: string): UserId | null {
  try {
    const userId = checkUserId(text);
    return userFolderName(userId) === folderName ? userId : null;
  } catch {
    return null;
  }
}
