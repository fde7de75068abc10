import type { DataRoot } from "../../../disk/data-root.ts";
import type { Directory } from "../../../disk/directory.ts";
import { isStoreId } from "../../../values/store-id.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { closeAll, walk } from "../home-folder.ts";
import { grantedFolder, storesFolder } from "../home.ts";
import { settleAll } from "../settle-all.ts";

/** A principal's folder of hints and the folders above it, each held open. */
export class HintFolder implements Disposable {
  readonly own: Directory;
  readonly #above: Directory;
  readonly #principal: StoreId;
  readonly #folders: readonly Directory[];

  private constructor(principal: StoreId, folders: readonly Directory[]) {
    const [own, above] = folders.toReversed();
    if (own === undefined || above === undefined) throw new RangeError("A way to a folder of hints has four folders");
    this.#principal = principal;
    this.#folders = folders;
    this.#above = above;
    this.own = own;
  }

  /** All principals that have a folder. */
  static principals(root: DataRoot): StoreId[] {
    using data = root.open();
    using stores = data && data.openFolder(storesFolder);
    using granted = stores && stores.openFolder(grantedFolder);
    return granted?.entries().flatMap(({ name, kind }) => (kind === "folder" && isStoreId(name) ? [name] : [])) ?? [];
  }

  /** `null` if there is no folder. */
  static open(root: DataRoot, principal: StoreId): HintFolder | null {
    const names = wayTo(principal);
    const folders = walk(root.open(), names, (folder, name) => folder.openFolder(name));
    if (folders.length > names.length) return new HintFolder(principal, folders);
    closeAll(folders);
    return null;
  }

  static async make(root: DataRoot, principal: StoreId): Promise<HintFolder> {
    return new HintFolder(
      principal,
      walk(await root.make(), wayTo(principal), (folder, name) => folder.makeFolder(name)),
    );
  }

  /** Whether it has not been removed. */
  get isThere(): boolean {
    return this.#above.identityOf(this.#principal) === this.own.identity;
  }

  removeIfEmpty(): void {
    if (this.own.entries().length > 0) return;
    // Some systems do not remove a folder that is held open.
    this.own[Symbol.dispose]();
    this.#above.removeFolder(this.#principal);
  }

  /** Makes the names in these folders durable. */
  async flush(): Promise<void> {
    await settleAll(this.#folders.map((folder) => folder.flush()));
  }

  [Symbol.dispose](): void {
    closeAll(this.#folders);
  }
}

const wayTo = (principal: StoreId): string[] => [storesFolder, grantedFolder, principal];
