/**
 * A home as a folder that one lock and one WAL protect, with the host's own `.memcell/` in it: a user's folder, a folder
 * that is mounted as one scope of a user, or a shared store.
 */
import type { DataRoot } from "../../disk/data-root.ts";
import { ToolError } from "../../values/tool-error.ts";
import { entriesScope, grantsPath, grantsScope, hostScope, keyOf, recordAt } from "../home.ts";
import type { Home } from "../home.ts";
import { checkedScope, segmentsOf } from "../reading.ts";
import { userFolderName } from "./user-folder-name.ts";

/** The host's own folder in a home. Its name fits no scope, so no guest can reach it. */
export const hostFolder = hostScope;

/** In the host's own folder of a mounted folder, and nowhere else. */
export const ignoreFile = ".gitignore";

export const usersFolder = "users";
export const storesFolder = "stores";

/** Beside the stores: who was granted something. Its name is no id. */
export const grantedFolder = ".granted";

export type HomeKind = Home["kind"];

/** How messages name a home. */
export const shownAs: Readonly<Record<HomeKind, string>> = {
  user: "the user's folder",
  mount: "the mounted folder",
  store: "the store's folder",
};

export interface FileHome {
  /** The same for two names of one home. */
  readonly key: string;
  readonly kind: HomeKind;
  /** Where to walk from. */
  readonly root: DataRoot;
  /** The names of the folders that lead from the root to the home; none for a mounted folder. */
  readonly names: readonly string[];
  /** What the folder records as its owner: a user's id, or `stores/<uuid>`, which no user's id can be. */
  readonly owner: string;
  /** The one scope that a mounted folder stands for; else `null`. */
  readonly mountedScope: string | null;
}

/** Where a home lies below a root: the data folder, or the mounted folder itself. */
export function fileHome(home: Home, root: DataRoot): FileHome {
  const known = { key: keyOf(home), kind: home.kind, root, owner: home.id, mountedScope: null };
  if (home.kind === "user") return { ...known, names: [usersFolder, userFolderName(home.id)] };
  if (home.kind === "mount") return { ...known, names: [], mountedScope: home.scope };
  return { ...known, names: [storesFolder, home.id], owner: `${storesFolder}/${home.id}` };
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
  if (scope === hostScope) return kind === "user" && recordAt(path) !== null;
  if (kind !== "store" || scope === entriesScope) return true;
  return scope === grantsScope && (path === grantsPath || putAside.test(path));
}

const putAside = /^trash\/(?:grants|recovered)\.[A-Za-z0-9.-]+$/;

const denied = (what: string, why: string): ToolError =>
  new ToolError("CAPABILITY_DENIED", `Cannot use ${what}: ${why}`);
