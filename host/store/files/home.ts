/**
 * A home as a folder that one lock and one journal protect, with the host's own `.memcell/` in it: a user's folder, a folder
 * that is mounted as one scope of a user, or a shared store.
 */
import { createHash } from "node:crypto";

import { storeLimits } from "../../../shared/limits.ts";
import { DiskRoot } from "../../disk/pinned-directory.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { UserId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { MountLocation } from "../definition.ts";
import { entriesScope, grantsPath, grantsScope, hostScope, keyOf, recordAt } from "../home.ts";
import type { Home, MountHome, StoreHome, UserHome } from "../home.ts";
import { checkedScope, segmentsOf } from "../reading.ts";

/** The host's own folder in a home. Its name fits no scope, so no guest can reach it. */
export const hostFolder = hostScope;

/** In the host's own folder of a mounted folder, and nowhere else. */
export const ignoreFile = ".gitignore";

export const usersFolder = "users";
export const storesFolder = "stores";
/** Where homes lie below the data folder. */
export const homePlaces = [usersFolder, storesFolder] as const;

/** Beside the stores: who was granted something. Its name is no id. */
export const grantedFolder = ".granted";

export type HomeKind = Home["kind"];

/** How messages name a home. */
export const shownAs: Readonly<Record<HomeKind, string>> = {
  user: "the user's folder",
  mount: "the mounted folder",
  store: "the store's folder",
};

export type FileHome = Home & HomeOnDisk;
export type FileMount = MountHome & HomeOnDisk;

interface HomeOnDisk {
  /** The same for two names of one home. */
  readonly key: string;
  /** Where to walk from. */
  readonly root: DataRoot;
  /** The names of the folders that lead from the root to the home; none for a mounted folder. */
  readonly names: readonly string[];
  /** What the folder records as its owner: a user's id, or `stores/<uuid>`, which no user's id can be. */
  readonly owner: string;
}

/** Where a home lies below the data folder. */
export function fileHome(home: UserHome | StoreHome, root: DataRoot): FileHome {
  const known = { key: keyOf(home), root, owner: home.id };
  if (home.kind === "user") return { ...home, ...known, names: [usersFolder, presentFolderOf(home.id, root)] };
  return { ...home, ...known, names: [storesFolder, home.id], owner: `${storesFolder}/${home.id}` };
}

/**
 * Ids were once taken as they came. A folder of the form NFD is still its user's, as long as there is none of the form NFC;
 * if both are there, the latter is the user's, and the other one is no user's (`found-homes.ts`).
 */
function presentFolderOf(userId: UserId, root: DataRoot): string {
  const [name = "", older] = userFolderNames(userId);
  if (older === undefined || root.identityAt([usersFolder, name]) !== null) return name;
  return root.identityAt([usersFolder, older]) === null ? name : older;
}

/** What the folder of a user can be called: the name that a new one gets comes first. */
export function userFolderNames(userId: UserId): string[] {
  const names = [userId, userId.normalize("NFD") as UserId].map(userFolderName);
  return [...new Set(names)];
}

/** A mounted folder, which is its home itself. */
export function fileMount({ userId, scope, dir }: MountLocation): FileMount {
  const home: MountHome = { kind: "mount", id: userId, scope };
  return { ...home, key: keyOf(home), root: DiskRoot.mounted(dir), names: [], owner: userId };
}

/** The folders of a shared store's scopes. */
const storeFolders: ReadonlyMap<string, string> = new Map([
  [entriesScope, entriesScope],
  [grantsScope, hostFolder],
]);

/**
 * The names of the folders that lead from a home to a scope. A mounted folder is the scope itself, whatever the scope
 * is called. Throws `CAPABILITY_DENIED` if the text is not a scope's name, or a shared store has no such scope.
 */
export function wayToScope(kind: HomeKind, scope: string): readonly string[] {
  if (kind === "user" && scope === hostScope) return [hostFolder];
  const name = checkedScope(scope);
  if (kind !== "store") return kind === "mount" ? [] : [name];
  const folder = storeFolders.get(name);
  if (folder === undefined) throw denied(`scope "${name}"`, "a shared store has no such scope");
  return [folder];
}

/** The folders of a path inside its scope, then the file's name. Throws `CAPABILITY_DENIED` for an invalid path. */
export function segmentsIn(kind: HomeKind, scope: string, path: string): string[] {
  const segments = segmentsOf(path);
  if (hasPlace(kind, scope, path)) return segments;
  throw denied(`path "${path}"`, "no such file can be in this scope");
}

/**
 * Whether a home can have a file there, if scope and path are valid. Records and a store's grants lie beside files of the
 * host, so only they can be named, and what recovery puts aside of grants.
 */
export function hasPlace(kind: HomeKind, scope: string, path: string): boolean {
  if (scope === hostScope) return kind === "user" && (recordAt(path)?.kind ?? "left") !== "left";
  if (kind !== "store" || scope === entriesScope) return true;
  return scope === grantsScope && (path === grantsPath || putAside.test(path));
}

const putAside = /^trash\/(?:grants|recovered)\.[A-Za-z0-9.-]+$/;

const denied = (what: string, why: string): ToolError =>
  new ToolError("CAPABILITY_DENIED", `Cannot use ${what}: ${why}`);

/** Device names on Windows, with any ending. Windows cannot create such a folder. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * The name of a user's folder: different ids never share one.
 *
 * Characters outside `[A-Za-z0-9._@-]` are percent-encoded byte by byte, as is a dot at either end and the first
 * character of a device's name. If the encoded id is too long for a file system, it is cut and ends in `%~` and the
 * id's SHA-256. No percent-encoding contains `%~`, so no other id has such a name.
 */
export function userFolderName(userId: UserId): string {
  const characters = Array.from(userId);
  const isDevice = deviceName.test(userId);
  const encoded = characters
    .map((character, at) => {
      const isEnd = at === 0 || at === characters.length - 1;
      return (isEnd && character === ".") || (isDevice && at === 0) ? percent(character) : encode(character);
    })
    .join("");
  if (encoded.length <= storeLimits.folderNameBytesMax) return encoded;
  const digest = createHash("sha256").update(userId).digest("hex");
  const mark = `%~${digest}`;
  return encoded.slice(0, storeLimits.folderNameBytesMax - mark.length) + mark;
}

const encode = (character: string): string => (/^[A-Za-z0-9._@-]$/.test(character) ? character : percent(character));

function percent(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
