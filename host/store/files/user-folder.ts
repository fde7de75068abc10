/**
 * From user, scope and path to an open folder and one name in it. The security heart of the store: nothing else walks
 * through users' folders.
 *
 * Every walk starts at the data folder, opens one folder after the other and refuses links, so it ends in this user's
 * folder or nowhere. It is made anew for each call: a folder that was renamed away meanwhile is not used again.
 *
 * A mounted folder stands for one scope of one user. It is then both: the folder in which the host's own lies, and the
 * scope's.
 */
import { isScopePath, scopeName } from "../../../shared/path.ts";
import { quoted } from "../../../shared/text.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { exactName, foldsCase, twinOf } from "./folded-case.ts";
import { userFolderName } from "./user-folder-name.ts";
import { UserWay } from "./user-way.ts";

/** The host's own folder beside the scopes. Its name fits no scope, so no guest can reach it. */
export const hostFolder = ".memcell";

export const usersFolder = "users";

export class UserFolder {
  readonly userId: UserId;
  readonly folderName: string;
  /** The one scope that the root itself stands for; `null` for a data folder. */
  readonly mountedScope: string | null;
  readonly #root: DataRoot;

  constructor(root: DataRoot, userId: UserId, mountedScope: string | null = null) {
    this.#root = root;
    this.userId = userId;
    this.folderName = userFolderName(userId);
    this.mountedScope = mountedScope;
  }

  /** The folder that holds the user's scopes, or is the one; `null` when there is none. */
  open(): Directory | null {
    const root = this.#root.open();
    if (root === null || this.mountedScope !== null) return root;
    try {
      return walk(root, this.#names);
    } finally {
      root[Symbol.dispose]();
    }
  }

  /** The folders that lead from the root to the user's. */
  get #names(): readonly string[] {
    return this.mountedScope === null ? [usersFolder, this.folderName] : [];
  }

  /** How messages name it. */
  get shown(): string {
    return this.mountedScope === null ? "the user's folder" : "the mounted folder";
  }

  /** The same with the host's own folder in it, all held open; `null` when one of them does not exist. */
  openWay(): UserWay | null {
    return UserWay.open(this.#root, [...this.#names, hostFolder]);
  }

  /** `false` where a disk that folds case shows another id's folder under this one's name. */
  isExact(): boolean {
    if (this.mountedScope !== null) return true;
    using root = this.#root.open();
    if (root === null || !foldsCase(root, usersFolder)) return true;
    using users = root.openFolder(usersFolder);
    return users === null || twinOf(users, this.folderName) === null;
  }

  /** Makes the folders that lead to the host's own. Durable once all that are returned are flushed. */
  async make(): Promise<{ own: Directory; made: Directory[] }> {
    let last = await this.#root.make();
    const made = [last];
    try {
      for (const name of this.#names) {
        last = last.makeFolder(name);
        made.push(last);
      }
      return { own: last.makeFolder(hostFolder), made };
    } catch (error) {
      for (const each of made) each[Symbol.dispose]();
      throw error;
    }
  }

  /** The host's own folder of this user. */
  openOwn(): Directory | null {
    using user = this.open();
    return user && user.openFolder(hostFolder);
  }
}

/** The folders of a path inside a user's folder, its scope first, and its name last. */
export function segmentsOf(scope: string, path: string): string[] {
  if (!isScopePath(path)) {
    throw new ToolError("CAPABILITY_DENIED", `Cannot use path ${quoted(path)}: it is not a path inside a scope`);
  }
  return [checkedScope(scope), ...path.split("/")];
}

export function checkedScope(scope: string): string {
  if (!scopeName.test(scope))
    throw new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: no such scope`);
  return scope;
}

/** Opens one folder after the other below a folder, which stays open, and closes those in between. */
export function walk(start: Directory, names: readonly string[], folds = false): Directory | null {
  let folder = start;
  for (const name of names) {
    let next: Directory | null;
    try {
      next = !folds || exactName(folder, name) ? folder.openFolder(name) : null;
    } finally {
      if (folder !== start) folder[Symbol.dispose]();
    }
    if (next === null) return null;
    folder = next;
  }
  return folder;
}
