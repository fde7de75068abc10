import type { DataRoot } from "./disk/data-root.ts";
import type { Directory } from "./disk/directory.ts";
import { settleAll } from "./settle-all.ts";

/** The names of the folders that lead from the data folder to the host's own. */
export interface WayNames {
  readonly users: string;
  readonly user: string;
  readonly own: string;
}

/** Every folder on the way, opened one below the other. */
interface WayFolders {
  readonly root: Directory;
  readonly users: Directory;
  readonly user: Directory;
  readonly own: Directory;
}

/**
 * The way from the data folder to the host's own folder of one user, each folder on it held open for the time of one
 * call. Held folders stay what they are; whether they still lie where they lay is asked with `isUnchanged`.
 */
export class UserWay implements Disposable {
  readonly user: Directory;
  readonly own: Directory;
  readonly #root: DataRoot;
  readonly #names: WayNames;
  readonly #folders: WayFolders;

  private constructor(root: DataRoot, names: WayNames, folders: WayFolders) {
    this.#root = root;
    this.#names = names;
    this.#folders = folders;
    this.user = folders.user;
    this.own = folders.own;
  }

  /** `null` when one of the folders does not exist. */
  static open(dataRoot: DataRoot, names: WayNames): UserWay | null {
    const opened: Directory[] = [];
    const opening = (folder: Directory | null | undefined): Directory | null => {
      if (folder) opened.push(folder);
      return folder ?? null;
    };
    try {
      const root = opening(dataRoot.open());
      const users = opening(root?.openFolder(names.users));
      const user = opening(users?.openFolder(names.user));
      const own = opening(user?.openFolder(names.own));
      if (root && users && user && own) return new UserWay(dataRoot, names, { root, users, user, own });
    } catch (error) {
      closeAll(opened);
      throw error;
    }
    closeAll(opened);
    return null;
  }

  /** Whether a fresh walk from the data folder's path would end in these very folders. */
  isUnchanged(): boolean {
    const { root, users, user, own } = this.#folders;
    return (
      this.#root.identityNow() === root.identity &&
      root.identityOf(this.#names.users) === users.identity &&
      users.identityOf(this.#names.user) === user.identity &&
      user.identityOf(this.#names.own) === own.identity
    );
  }

  /** Makes durable which names these folders hold. */
  async flush(): Promise<void> {
    await settleAll(Object.values(this.#folders).map((folder: Directory) => folder.flush()));
  }

  [Symbol.dispose](): void {
    closeAll(Object.values(this.#folders));
  }
}

function closeAll(folders: readonly Directory[]): void {
  for (const folder of folders) folder[Symbol.dispose]();
}
