import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";

import type { Directory } from "./directory.ts";
import { failureOfDisk, isMissing } from "./disk-failure.ts";
import { checkDescriptors, identityOf, openRootFolder, handleKindHere } from "./folder-handle.ts";
import type { HandleKind } from "./folder-handle.ts";
import { makeFolderIn } from "./make-folder.ts";
import { PinnedDirectory } from "./pinned-directory.ts";

/** The data folder. It is opened again for each operation, so that a folder that was moved away is not written to. */
export interface DataRoot {
  /** `null` when there is none yet. */
  open(): Directory | null;
  /** The `identity` of the folder that is at the path now; `null` if there is none. */
  identityNow(): string | null;
  /**
   * The `identity` of what a path of names below the data folder leads to now, links followed; `null` if nothing is
   * there.
   */
  identityAt(names: readonly string[]): string | null;
  /** Opens the folder, after making it durably if there is none. */
  make(): Promise<Directory>;
}

export class DiskRoot implements DataRoot {
  readonly #path: string;
  readonly #kind: HandleKind;
  readonly #isExact: boolean;
  readonly #shown: string;

  constructor(path: string, kind: HandleKind = handleKindHere, isExact = false) {
    if (kind === "descriptor") checkDescriptors();
    this.#path = path;
    this.#kind = kind;
    this.#isExact = isExact;
    this.#shown = isExact ? "the mounted folder" : "the data folder";
  }

  /**
   * A folder that other programs use too. `path` must be resolved: a link that later replaces a part of it is refused
   * (`STORAGE_UNSAFE`).
   */
  static mounted(path: string, kind: HandleKind = handleKindHere): DiskRoot {
    return new DiskRoot(path, kind, true);
  }

  open(): Directory | null {
    try {
      return this.#openAt(this.#path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw failureOfDisk(error, `open ${this.#shown}`);
    }
  }

  identityNow(): string | null {
    return this.identityAt([]);
  }

  identityAt(names: readonly string[]): string | null {
    try {
      const facts = statSync([this.#path, ...names].join("/"), { bigint: true, throwIfNoEntry: false });
      return facts === undefined ? null : identityOf(facts);
    } catch (error) {
      throw failureOfDisk(error, `open ${this.#shown}`);
    }
  }

  async make(): Promise<Directory> {
    const found = this.open();
    if (found) return found;
    try {
      await this.#makeFolders(this.#path);
      return this.#openAt(this.#path);
    } catch (error) {
      throw failureOfDisk(error, `make ${this.#shown}`);
    }
  }

  /** One folder at a time: below some mount points Node's own recursion never ends. */
  async #makeFolders(path: string): Promise<void> {
    if (existsSync(path)) return;
    const above = dirname(path);
    await this.#makeFolders(above);
    using handle = openRootFolder(above, this.#kind, this.#isExact);
    makeFolderIn(handle, basename(path));
    await new PinnedDirectory(handle).flush();
  }

  #openAt(path: string): Directory {
    return new PinnedDirectory(openRootFolder(path, this.#kind, this.#isExact));
  }
}
