/** Users' folders on disk as plain objects: user id, then path inside the user's folder, then text. */
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { userFolderName } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { namesBelow } from "./names-below.ts";

export type UserFiles = Record<string, Record<string, string>>;

export function userFolder(dataDir: string, userId: string): string {
  return join(dataDir, "users", userFolderName(userId as UserId));
}

export function writeUserFiles(dataDir: string, users: UserFiles): void {
  for (const [userId, files] of Object.entries(users)) {
    for (const [path, text] of Object.entries(files)) writeFileSync(placeFor(dataDir, userId, path), text);
  }
}

function placeFor(dataDir: string, userId: string, path: string): string {
  const place = join(userFolder(dataDir, userId), path);
  mkdirSync(dirname(place), { recursive: true });
  return place;
}

/** Every regular file of a user, except the host's own. */
export function readUserFiles(dataDir: string, userId: string): Record<string, string> {
  const folder = userFolder(dataDir, userId);
  const files = namesBelow(folder).filter(
    (name) => !name.startsWith(".memcell") && lstatSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(files.toSorted().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** The names of all users' folders. Empty if there is no data folder. */
export function userFolderNames(dataDir: string): string[] {
  const users = join(dataDir, "users");
  return existsSync(users) ? readdirSync(users).toSorted() : [];
}
