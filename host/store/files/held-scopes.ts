import { scopeName } from "../../../shared/path.ts";
import type { Directory } from "./disk/directory.ts";
import { exactName, foldsCase } from "./folded-case.ts";
import { checkedScope, segmentsOf, walk } from "./user-folder.ts";

interface HeldScope {
  readonly folder: Directory;
  readonly folds: boolean;
}

/**
 * The scopes below one user's open folder, each opened once and held for the time of one call. What is held is the
 * folder that was found, whatever becomes of its path, so nothing can be put in between two reads of a call.
 */
export class HeldScopes implements Disposable {
  readonly #user: Directory | null;
  readonly #scopes = new Map<string, HeldScope>();

  /** Takes the user's folder over: `null` when there was none as the call began, and then there are no files. */
  constructor(user: Directory | null) {
    this.#user = user;
  }

  /** What is no folder is no scope: the doctor tells of it. */
  names(): string[] {
    const folders = this.#user?.entries().filter(({ name, kind }) => kind === "folder" && scopeName.test(name)) ?? [];
    return folders.map(({ name }) => name).toSorted();
  }

  /** The folder of a scope, which stays this object's; `null` when there is none. */
  folderOf(scope: string): Directory | null {
    return this.#hold(checkedScope(scope))?.folder ?? null;
  }

  /** Uses the folder and the name in it of a scope's file; `null` when a folder on the way does not exist. */
  useFile<Result>(scope: string, path: string, use: (folder: Directory, name: string) => Result): Result | null {
    const [, ...segments] = segmentsOf(scope, path);
    const name = segments.pop() ?? "";
    const held = this.#hold(scope);
    const folder = held && walk(held.folder, segments, held.folds);
    if (!held || !folder) return null;
    try {
      return held.folds && !exactName(folder, name) ? null : use(folder, name);
    } finally {
      if (folder !== held.folder) folder[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    for (const { folder } of this.#scopes.values()) folder[Symbol.dispose]();
    this.#scopes.clear();
    this.#user?.[Symbol.dispose]();
  }

  #hold(scope: string): HeldScope | null {
    const known = this.#scopes.get(scope);
    if (known || this.#user === null) return known ?? null;
    const folds = foldsCase(this.#user, scope);
    const folder = folds && !exactName(this.#user, scope) ? null : this.#user.openFolder(scope);
    if (folder === null) return null;
    const held = { folder, folds };
    this.#scopes.set(scope, held);
    return held;
  }
}
