import { scopeName } from "../../../shared/path.ts";
import type { Directory } from "../../disk/directory.ts";
import { exactName, foldsAnyCase, foldsCase } from "./folded-case.ts";
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
  readonly #mountedScope: string | null;
  readonly #scopes = new Map<string, HeldScope>();

  /**
   * Takes the user's folder over: `null` when there was none as the call began, and then there are no files. Where it is
   * mounted, it is itself the one scope that there is.
   */
  constructor(user: Directory | null, mountedScope: string | null = null) {
    this.#user = user;
    this.#mountedScope = mountedScope;
  }

  /** What is no folder is no scope: the doctor tells of it. */
  names(): string[] {
    if (this.#mountedScope !== null) return this.#user === null ? [] : [this.#mountedScope];
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
    const held = this.#mountedScope === null ? open(this.#user, scope) : this.#openMounted(this.#user, scope);
    if (held !== null) this.#scopes.set(scope, held);
    return held;
  }

  #openMounted(folder: Directory, scope: string): HeldScope | null {
    return scope === this.#mountedScope ? { folder, folds: foldsAnyCase(folder) } : null;
  }
}

function open(user: Directory, scope: string): HeldScope | null {
  const folds = foldsCase(user, scope);
  const folder = folds && !exactName(user, scope) ? null : user.openFolder(scope);
  return folder && { folder, folds };
}
