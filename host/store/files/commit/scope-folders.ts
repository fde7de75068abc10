import type { Directory } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { exactName, foldsAnyCase, foldsCase, twinOf } from "../folded-case.ts";
import { settleAll } from "../settle-all.ts";
import { segmentsOf } from "../user-folder.ts";

interface KnownOfFolder {
  readonly isMounted: boolean;
  readonly folds: Map<string, boolean>;
}

/** The folders below one open user's folder that a commit works in, each opened once. */
export class ScopeFolders implements Disposable {
  readonly #user: Directory;
  readonly #open = new Map<string, Directory>();
  readonly #folds: Map<string, boolean>;
  /** The user's folder is mounted: it is the one scope's own, whatever a record calls the scope. */
  readonly isMounted: boolean;

  /** `folds` is what was found out of disks that fold case; a folder never changes in this while it holds anything. */
  constructor(user: Directory, { isMounted, folds }: KnownOfFolder) {
    this.#user = user;
    this.isMounted = isMounted;
    this.#folds = folds;
  }

  /** Where a file lies or may lie; `null` when one of its folders does not exist. The folder stays this object's. */
  find(scope: string, path: string): { folder: Directory; name: string } | null {
    return this.#walk(scope, path, (folder, name) => folder.openFolder(name));
  }

  /** As `find`, after making the folders. */
  make(scope: string, path: string): { folder: Directory; name: string } {
    const place = this.#walk(scope, path, (folder, name) => folder.makeFolder(name));
    if (place === null) throw new ToolError("STORAGE_FAILED", `Cannot use "${path}": its folder has gone meanwhile`);
    return place;
  }

  read(scope: string, path: string): Buffer | null {
    const place = this.find(scope, path);
    if (place === null) return null;
    if (this.#isFolding(scope) && !exactName(place.folder, place.name)) return null;
    return place.folder.read(place.name, path);
  }

  /** Makes durable which names these folders hold, from the user's folder down. */
  async flush(): Promise<void> {
    await settleAll([...this.#open.values(), this.#user].map((folder) => folder.flush()));
  }

  /** Where a disk folds case, a file must not take the place of one that only case tells apart from it. */
  refuseTwin(scope: string, path: string): void {
    const twin = this.twinOf(scope, path);
    if (twin !== null) throw twinError(path, twin);
  }

  /** Where a disk folds case, the path that only case tells apart from this one, if there is a file. */
  twinOf(scope: string, path: string): string | null {
    const place = this.#isFolding(scope) ? this.find(scope, path) : null;
    const twin = place && twinOf(place.folder, place.name);
    return twin === null ? null : path.slice(0, path.length - twin.length) + twin;
  }

  /** Whether a fresh walk from the user's folder would find these very folders. */
  areUnchanged(): boolean {
    return Array.from(this.#open).every(([way, { identity }]) => {
      const [, above = "", name = ""] = /^(.*\/)?([^/]+)\/$/.exec(way) ?? [];
      const folder = above === "" ? this.#user : this.#open.get(above);
      return folder?.identityOf(name) === identity;
    });
  }

  [Symbol.dispose](): void {
    for (const folder of this.#open.values()) folder[Symbol.dispose]();
    this.#open.clear();
  }

  #walk(
    scope: string,
    path: string,
    step: (folder: Directory, name: string) => Directory | null,
  ): { folder: Directory; name: string } | null {
    const segments = segmentsOf(scope, path).slice(this.isMounted ? 1 : 0);
    const name = segments.pop() ?? "";
    let [folder, way] = [this.#user, ""];
    for (const segment of segments) {
      way = `${way}${segment}/`;
      const next = this.#open.get(way) ?? step(folder, segment);
      if (next === null) return null;
      this.#open.set(way, next);
      if (this.#isFolding(scope) && !exactName(folder, segment)) throw twinError(path, segment);
      folder = next;
    }
    return { folder, name };
  }

  #isFolding(scope: string): boolean {
    const key = `${this.#user.identity}/${scope}`;
    const known = this.#folds.get(key);
    if (known !== undefined) return known;
    if (this.isMounted) return this.#keepFolds(key, foldsAnyCase(this.#user));
    const folds = foldsCase(this.#user, scope);
    return this.#open.has(`${scope}/`) ? this.#keepFolds(key, folds) : folds;
  }

  #keepFolds(key: string, folds: boolean): boolean {
    this.#folds.set(key, folds);
    return folds;
  }
}

function twinError(path: string, twin: string): ToolError {
  return new ToolError(
    "NAME_CONFLICT",
    `Cannot write "${path}": "${twin}" is there, and this disk does not tell them apart`,
  );
}
