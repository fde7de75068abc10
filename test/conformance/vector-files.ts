/** The files of a vector: written before its calls and compared after them, for any host. */
import { linkSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { userFolderName } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { namesBelow } from "../support/names-below.ts";
import { userFolderNames } from "../support/user-files.ts";
import type { Vector, VectorFile } from "./vector.ts";

/** By the name of the user's folder, then by the path in it. */
export type FilesByFolder = Record<string, Record<string, VectorFile>>;

/** Creates a vector's files, folders and links in an empty data folder. */
export function writeBefore(dataDir: string, vector: Vector): void {
  const make = <Content>(
    users: Readonly<Record<string, Readonly<Record<string, Content>>>> = {},
    write: (place: string, content: Content, folder: string) => void,
  ): void => {
    for (const [userId, files] of Object.entries(users)) {
      const folder = join(dataDir, "users", folderName(userId, vector));
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        write(join(folder, path), content, folder);
      }
    }
  };
  make(vector.before, (place, content) => writeFileSync(place, bytesOf(content)));
  for (const [userId, paths] of Object.entries(vector.folders ?? {})) {
    const folder = join(dataDir, "users", folderName(userId, vector));
    for (const path of paths) mkdirSync(join(folder, path), { recursive: true });
  }
  make(vector.links, (place, target) => symlinkSync(target, place));
  make(vector.hardLinks, (place, path, folder) => linkSync(join(folder, path), place));
}

/** The files that must be there after a vector's calls. */
export function expectedFiles(vector: Vector): FilesByFolder {
  return Object.fromEntries(
    Object.entries(vector.after).map(([userId, files]) => [folderName(userId, vector), { ...files }]),
  );
}

/** Every user's folder, with every regular file in it except the host's own. */
export function foundFiles(dataDir: string): FilesByFolder {
  return Object.fromEntries(userFolderNames(dataDir).map((name) => [name, filesBelow(join(dataDir, "users", name))]));
}

export function filesBelow(folder: string): Record<string, VectorFile> {
  // A vector can have something else in a folder's place.
  if (!lstatSync(folder).isDirectory()) return {};
  const paths = namesBelow(folder).filter((path) => lstatSync(join(folder, path)).isFile());
  const ours = paths.filter((path) => !path.startsWith(".memcell/")).toSorted();
  return Object.fromEntries(ours.map((path) => [path, contentOf(readFileSync(join(folder, path)))]));
}

/** Returns text only if no byte is lost: otherwise all broken files would look alike. */
export function contentOf(bytes: Buffer): VectorFile {
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : { $hex: bytes.toString("hex") };
}

export const bytesOf = (file: VectorFile): string | Buffer =>
  typeof file === "string" ? file : Buffer.from(file.$hex, "hex");

function folderName(userId: string, { folderNames }: Vector): string {
  return folderNames?.[userId] ?? userFolderName(userId as UserId);
}
