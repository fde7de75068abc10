/**
 * A home on its way to its place: a folder beside it with a name that nobody looks for. Its lock keeps out whoever removes
 * what killed processes have left, and others once it has its name.
 */
import { randomUUID } from "node:crypto";

import type { DataRoot } from "../../../disk/data-root.ts";
import type { Directory } from "../../../disk/directory.ts";
import { systemCode } from "../../../disk/disk-failure.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { HomeFolder } from "../home-folder.ts";
import { lockFile, lockHome, lockNow } from "../home-lock.ts";
import { hostFolder, shownAs, storesFolder, usersFolder } from "../home.ts";
import type { FileHome } from "../home.ts";

const prefix = ".copying.";

export class StagedHome implements Disposable {
  readonly own: Directory;
  readonly folder: HomeFolder;
  readonly #home: FileHome;
  readonly #lock: Disposable;

  private constructor(
    home: FileHome,
    { folder, own, lock }: Pick<StagedHome, "folder" | "own"> & { lock: Disposable },
  ) {
    this.#home = home;
    this.folder = folder;
    this.own = own;
    this.#lock = lock;
  }

  static async make(home: FileHome): Promise<StagedHome> {
    const staged = { ...home, names: [home.names[0] ?? "", `${prefix}${randomUUID()}`] };
    await HomeFolder.make(staged);
    const folder = HomeFolder.open(staged);
    const own = folder?.openOwn() ?? null;
    try {
      const wanted = { shown: shownAs[home.kind], make: true, readOnlyWillDo: false, until: performance.now() };
      const lock = own && (await lockHome(own, wanted));
      if (folder !== null && own !== null && lock !== null) return new StagedHome(home, { folder, own, lock });
    } catch (error) {
      folder?.[Symbol.dispose]();
      throw error;
    }
    folder?.[Symbol.dispose]();
    throw new ToolError("STORAGE_FAILED", "Cannot copy: the new folder has gone meanwhile");
  }

  /** Gives it its name, durably. Returns `false` if something has the name. */
  async moveIntoPlace(): Promise<boolean> {
    const { root, names } = this.#home;
    if (root.identityAt(names) !== null) return false;
    try {
      await this.folder.moveAway(names.at(-1) ?? "");
      return true;
    } catch (error) {
      const code = error instanceof ToolError ? systemCode(error.cause) : undefined;
      if (code === "ENOTEMPTY" || code === "EEXIST") return false;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
    this.#lock[Symbol.dispose]();
  }
}

/** Removes what processes have left that have ended while they copied. */
export async function removeStagedHomes(root: DataRoot): Promise<void> {
  for (const place of [usersFolder, storesFolder]) {
    using data = root.open();
    using above = data && data.openFolder(place);
    const left = above?.entries().filter(({ name, kind }) => kind === "folder" && name.startsWith(prefix)) ?? [];
    for (const { name } of left) if (above !== null) await removeStaged(above, name);
  }
}

async function removeStaged(above: Directory, name: string): Promise<void> {
  using folder = above.openFolder(name);
  using own = folder && folder.openFolder(hostFolder);
  using lock = own && lockNow(own);
  // Whoever has the lock is at work.
  if (folder === null || (lock === null && own !== null && own.measure(lockFile) !== null)) return;
  await folder.removeTree();
  above.removeFolder(name);
}
