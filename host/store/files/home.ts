/**
 * A home is a folder that one lock and one WAL protect, with the host's own `.memcell/` in it: a user's folder, a folder
 * that is mounted as one scope of a user, or a shared store.
 */
import type { DataRoot } from "../../disk/data-root.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { checkedScope, segmentsOf } from "../reading.ts";
import { entriesScope, grantsPath, grantsScope } from "../shared-stores.ts";
import { userFolderName } from "./user-folder-name.ts";

/** The host's own folder in a home. Its name fits no scope, so no guest can reach it. */
export const hostFolder = ".memcell";

export const usersFolder = "users";
export const storesFolder = "stores";

/** Beside the stores: who was granted something. Its name is no id. */
export const grantedFolder = ".granted";

export type HomeKind = "user" | "mount" | "store";

/** How messages name a home. */
export const shownAs: Readonly<Record<HomeKind, string>> = {
  user: "the user's folder",
  mount: "the mounted folder",
  store: "the store's folder",
};

export interface Home {
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

export function userHome(root: DataRoot, userId: UserId): Home {
  return { kind: "user", root, names: [usersFolder, userFolderName(userId)], owner: userId, mountedScope: null };
}

export function mountedHome(root: DataRoot, userId: UserId, mountedScope: string): Home {
  return { kind: "mount", root, names: [], owner: userId, mountedScope };
}

export function storeHome(root: DataRoot, id: StoreId): Home {
  return { kind: "store", root, names: [storesFolder, id], owner: `${storesFolder}/${id}`, mountedScope: null };
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
  throw denied(`path "${path}"`, "no such file can be in this scope of a store");
}

/**
 * Whether a home can have a file there, if scope and path are valid. A store's grants lie beside files of the host, so
 * only their own file can be named, and what recovery puts aside.
 */
export function hasPlace(kind: HomeKind, scope: string, path: string): boolean {
  if (kind !== "store" || scope === entriesScope) return true;
  return scope === grantsScope && (path === grantsPath || putAside.test(path));
}

/** Whether a file is a user's or a store's own, and not one of the host's, such as a store's grants. */
export const isOfEntries = (kind: HomeKind, { scope }: { readonly scope: string }): boolean =>
  kind !== "store" || scope === entriesScope;

const putAside = /^trash\/(?:grants|recovered)\.[A-Za-z0-9.-]+$/;

const denied = (what: string, why: string): ToolError =>
  new ToolError("CAPABILITY_DENIED", `Cannot use ${what}: ${why}`);
