/**
 * Opens a home; `ScopeFolders` then opens what is below it. The security core of the store: nothing else walks through
 * users' folders and shared stores.
 *
 * Every walk starts at the data folder, opens one folder after another and refuses links, so it ends in this home or
 * nowhere. Each call walks again: a folder that was renamed away meanwhile is not used again.
 */
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { settleAll } from "./settle-all.ts";

/**
 * The folders from the root to a home, each held open. A held folder stays the same, whatever becomes of its path.
 */
export class HomeFolder implements Disposable {
  /** The home itself, which contains the host's own folder. */
  readonly home: Directory;
  readonly #root: DataRoot;
  /** The names below the root; the last is that of the host's own folder. */
  readonly #names: readonly string[];
  /** The root, then one folder for each name. The last is missing until `openOwn` opens it. */
  readonly #folders: Directory[];

  private constructor(root: DataRoot, names: readonly string[], folders: Directory[]) {
    const home = folders.at(-1);
    if (home === undefined) throw new RangeError("A way to a home has at least one folder");
    this.#root = root;
    this.#names = names;
    this.#folders = folders;
    this.home = home;
  }

  /** `null` when the home has no folder. */
  static open({ root, names }: FileHome): HomeFolder | null {
    const folders = walk(root.open(), names, (folder, name) => folder.openFolder(name));
    if (folders.length > names.length) return new HomeFolder(root, [...names, hostFolder], folders);
    closeAll(folders);
    return null;
  }

  /** Makes the host's own folder and all folders above it. Durable once they are opened and flushed. */
  static async make({ root, names }: FileHome): Promise<void> {
    closeAll(walk(await root.make(), [...names, hostFolder], (folder, name) => folder.makeFolder(name)));
  }

  /** Opens the host's own folder and holds it open; `null` if there is none. */
  openOwn(): Directory | null {
    const at = this.#names.length;
    const own = this.#folders[at] ?? this.home.openFolder(hostFolder);
    if (own !== null) this.#folders[at] = own;
    return own;
  }

  /** Closes all folders but the home, which the caller must close. */
  keepHome(): Directory {
    for (const folder of this.#folders) if (folder !== this.home) folder[Symbol.dispose]();
    return this.home;
  }

  /** Whether a new walk from the root's path would find the same folders. */
  isUnchanged(): boolean {
    return this.#folders.every((folder, at) => {
      const above = this.#folders[at - 1];
      return (above ? above.identityOf(this.#names[at - 1] ?? "") : this.#root.identityNow()) === folder.identity;
    });
  }

  /** The `identity` of what the home's path and some names below it lead to now; `null` if nothing is there. */
  identityAt(below: readonly string[]): string | null {
    return this.#root.identityAt([...this.#names.slice(0, -1), ...below]);
  }

  /** Closes the folders above the home. From then on it can neither be moved nor flushed, and not compared with its way. */
  closeAbove(): void {
    closeAll(this.#folders.slice(0, this.#names.length - 1));
  }

  /** Whether the home still has its name. */
  get isNamed(): boolean {
    const above = this.#above;
    return above === null || above.folder.identityOf(above.name) === this.home.identity;
  }

  /** Gives the home another name beside its own, durably. If that fails, the home keeps its name. */
  async moveAway(newName: string): Promise<void> {
    if (this.#above === null) throw new RangeError("A mounted folder cannot be moved");
    const { folder, name } = this.#above;
    folder.rename(name, folder, newName);
    try {
      await folder.flush();
    } catch (error) {
      folder.rename(newName, folder, name);
      throw error;
    }
  }

  /** The folder with the home, and the home's name in it; `null` for a mounted folder. */
  get #above(): { readonly folder: Directory; readonly name: string } | null {
    const [name, folder] = [this.#names.at(-2), this.#folders[this.#names.length - 2]];
    return name === undefined || folder === undefined ? null : { folder, name };
  }

  /** Makes the names in these folders durable. */
  async flush(): Promise<void> {
    await settleAll(this.#folders.map((folder) => folder.flush()));
  }

  [Symbol.dispose](): void {
    closeAll(this.#folders);
  }
}

/** The folders from a root on, as far as they exist. */
export function walk(
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

export function closeAll(folders: readonly Directory[]): void {
  for (const folder of folders) folder[Symbol.dispose]();
}
