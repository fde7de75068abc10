import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { settleAll } from "./settle-all.ts";

/**
 * The way from the data folder, or from a mounted one, to the host's own folder of one user, each folder on it held open
 * for the time of one call. Held folders stay what they are; whether they still lie where they lay is asked with `isUnchanged`.
 */
export class UserWay implements Disposable {
  /** The user's folder, in which the host's own lies. */
  readonly user: Directory;
  readonly own: Directory;
  readonly #root: DataRoot;
  readonly #names: readonly string[];
  /** The root, then one for each name. */
  readonly #folders: readonly Directory[];

  private constructor(root: DataRoot, names: readonly string[], folders: readonly Directory[]) {
    const [own, user] = folders.toReversed();
    if (!own || !user) throw new RangeError("A way needs a folder and one in it");
    this.#root = root;
    this.#names = names;
    this.#folders = folders;
    this.user = user;
    this.own = own;
  }

  /** `names` lead from the root to the host's own folder. `null` when one of the folders does not exist. */
  static open(root: DataRoot, names: readonly string[]): UserWay | null {
    const opened: Directory[] = [];
    try {
      let folder = root.open();
      for (const name of names) {
        if (folder === null) break;
        opened.push(folder);
        folder = folder.openFolder(name);
      }
      if (folder !== null) return new UserWay(root, names, [...opened, folder]);
    } catch (error) {
      closeAll(opened);
      throw error;
    }
    closeAll(opened);
    return null;
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

function closeAll(folders: readonly Directory[]): void {
  for (const folder of folders) folder[Symbol.dispose]();
}
