/**
 * From a user to their open folder, and with `ScopeFolders` on to one name in it. The security heart of the store: nothing
 * else walks through users' folders.
 *
 * Every walk starts at the data folder, opens one folder after the other and refuses links, so it ends in this user's
 * folder or nowhere. It is made anew for each call: a folder that was renamed away meanwhile is not used again.
 *
 * A mounted folder stands for one scope of one user. It is then both: the folder in which the host's own lies, and the
 * scope's.
 */
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import type { UserId } from "../../values/user-id.ts";
import { settleAll } from "./settle-all.ts";
import { userFolderName } from "./user-folder-name.ts";

/** The host's own folder beside the scopes. Its name fits no scope, so no guest can reach it. */
export const hostFolder = ".memcell";

export const usersFolder = "users";

/** Whose folder it is, and from where to walk. */
export interface UserHome {
  readonly root: DataRoot;
  readonly userId: UserId;
  /** The one scope that the root itself stands for; `null` for a data folder. */
  readonly mountedScope: string | null;
}

/** The folders from the root to the user's, each held open. Held folders stay what they are, whatever becomes of their path. */
export class UserFolder implements Disposable {
  /** The user's folder, in which the host's own lies. */
  readonly user: Directory;
  readonly #root: DataRoot;
  /** From the root on, that of the host's own folder last. */
  readonly #names: readonly string[];
  /** The root, then one for each name; the last is missing until it is asked for. */
  readonly #folders: Directory[];

  private constructor(root: DataRoot, names: readonly string[], folders: Directory[]) {
    const user = folders.at(-1);
    if (user === undefined) throw new RangeError("A way to a user's folder has at least one folder");
    this.#root = root;
    this.#names = names;
    this.#folders = folders;
    this.user = user;
  }

  /** `null` when the user has no folder. */
  static open(home: UserHome): UserFolder | null {
    const names = namesTo(home);
    const folders = walk(home.root.open(), names, (folder, name) => folder.openFolder(name));
    if (folders.length > names.length) return new UserFolder(home.root, [...names, hostFolder], folders);
    closeAll(folders);
    return null;
  }

  /** Makes the folders that lead to the host's own, and that one. Durable once they are opened and flushed. */
  static async make(home: UserHome): Promise<void> {
    closeAll(walk(await home.root.make(), [...namesTo(home), hostFolder], (folder, name) => folder.makeFolder(name)));
  }

  /** The host's own folder, held open from the first time on; `null` when there is none. */
  openOwn(): Directory | null {
    const at = this.#names.length;
    const own = this.#folders[at] ?? this.user.openFolder(hostFolder);
    if (own !== null) this.#folders[at] = own;
    return own;
  }

  /** Whether a fresh walk from the root's path would end in these very folders. */
  isUnchanged(): boolean {
    return this.#folders.every((folder, at) => {
      const above = this.#folders[at - 1];
      return (above ? above.identityOf(this.#names[at - 1] ?? "") : this.#root.identityNow()) === folder.identity;
    });
  }

  /** Makes durable which names these folders hold. */
  async flush(): Promise<void> {
    await settleAll(this.#folders.map((folder) => folder.flush()));
  }

  [Symbol.dispose](): void {
    closeAll(this.#folders);
  }
}

/** The names that lead from the root to the user's folder. */
function namesTo({ userId, mountedScope }: UserHome): readonly string[] {
  return mountedScope === null ? [usersFolder, userFolderName(userId)] : [];
}

/** The folders from a root on, as far as they are there. */
function walk(
  root: Directory | null,
  names: readonly string[],
  step: (folder: Directory, name: string) => Directory | null,
): Directory[] {
  const folders: Directory[] = [];
  try {
    let next = root;
    for (const name of names) {
      if (next === null) return folders;
      folders.push(next);
      next = step(next, name);
    }
    return next === null ? folders : [...folders, next];
  } catch (error) {
    closeAll(folders);
    throw error;
  }
}

function closeAll(folders: readonly Directory[]): void {
  for (const folder of folders) folder[Symbol.dispose]();
}
