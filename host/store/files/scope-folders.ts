import type { Directory, StampedFile } from "../../disk/directory.ts";
import type { FileStamp } from "../../disk/file-stamp.ts";
import { inodeIn } from "../../disk/folder-handle.ts";
import { forNewFolderIn } from "../../disk/permissions.ts";
import { ToolError } from "../../values/tool-error.ts";
import { exactName, foldsAnyCase, foldsCase, twinOf } from "./folded-names.ts";
import { hostFolder, segmentsIn, wayToScope } from "./home.ts";
import type { HomeKind } from "./home.ts";
import { replacedRecord } from "./record-files.ts";
import { settleAll } from "./settle-all.ts";

export interface KnownOfHome {
  readonly kind: HomeKind;
  /** Whether the disk folds case, by scope. This never changes while the folder is not empty. */
  readonly folds: Map<string, boolean>;
}

export interface FileInFolder {
  /** `ScopeFolders` owns it and closes it. */
  readonly folder: Directory;
  readonly name: string;
}

/** How a walk gets from one folder to the next. */
interface Step {
  readonly next: (folder: Directory, name: string) => Directory | null;
  /** Called for a folder that exists, but under another spelling. */
  readonly onTwin: (name: string) => null;
}

/** How many folders stay open between two calls. */
const keptMax = 8;

const openNext: Step = { next: (folder, name) => folder.openFolder(name), onTwin: () => null };
const makeNext: Step["next"] = (folder, name) => folder.makeFolder(name, forNewFolderIn(folder.permissions));

/**
 * Walks below one open home and holds every folder that it opens. A held folder stays the same, whatever
 * becomes of its path, so nobody can swap it between two reads. The caller closes the home's folder.
 *
 * Where a disk folds case, a name exists only if the spelling is exact.
 */
export class ScopeFolders implements Disposable {
  readonly #home: Directory;
  readonly #open = new Map<string, Directory>();
  readonly #folds: Map<string, boolean>;
  readonly #kind: HomeKind;

  constructor(home: Directory, { kind, folds }: KnownOfHome) {
    this.#home = home;
    this.#kind = kind;
    this.#folds = folds;
  }

  /**
   * Without the host's records in whose place is something else, such as a link or a folder. They count as lost, and keep
   * nobody from the user's files.
   */
  usable<File extends { readonly scope: string; readonly path: string }>(files: readonly File[]): File[] {
    const isUsable = ({ scope, path }: File): boolean => {
      try {
        this.read(scope, path);
        return true;
      } catch (error) {
        if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return false;
        throw error;
      }
    };
    return files.filter((file) => file.scope !== hostFolder || isUsable(file));
  }

  /** The folder of a scope; `null` when there is none. */
  folderOf(scope: string): Directory | null {
    return this.#walk(scope, [], openNext);
  }

  /** Where a file is or can be; `null` if one of its folders does not exist. */
  find(scope: string, path: string): FileInFolder | null {
    return this.#locate(scope, path, openNext);
  }

  /** As `find`, but makes the folders. Throws `NAME_CONFLICT` if one differs from an existing name only in case. */
  make(scope: string, path: string): FileInFolder {
    const onTwin = (name: string): never => {
      throw twinError(path, name);
    };
    const made = this.#locate(scope, path, { next: makeNext, onTwin });
    if (made === null) throw new ToolError("STORAGE_FAILED", `Cannot use "${path}": its folder has gone meanwhile`);
    return made;
  }

  /** The deepest folder on the way to a file that is there; the home at least. */
  nearest(scope: string, path: string): Directory {
    return this.#way(scope, path).at(-1) ?? this.#home;
  }

  /**
   * The inodes of the folders on the way to a file, as far as they are there, without the home's. They stay the same when
   * the machine starts again.
   */
  inodesOnWay(scope: string, path: string): string[] {
    return this.#way(scope, path).map(({ identity }) => inodeIn(identity));
  }

  read(scope: string, path: string): Buffer | null {
    const file = this.#findExactly(scope, path);
    if (file && scope === hostFolder) return replacedRecord(file.folder, file.name);
    return file && file.folder.read(file.name, path);
  }

  readStamped(scope: string, path: string): StampedFile | null {
    if (scope === hostFolder) {
      const content = this.read(scope, path);
      return content && { content, stamp: null };
    }
    const file = this.#findExactly(scope, path);
    return file && file.folder.readStamped(file.name, path);
  }

  stampOf(scope: string, path: string): FileStamp | null {
    const file = scope === hostFolder ? null : this.#findExactly(scope, path);
    return file && file.folder.stampOf(file.name);
  }

  /**
   * Runs `look` on a file; returns `null` if it is not there. Then closes all folders below the scope: a call can read
   * in thousands of them.
   */
  look<Result>(scope: string, path: string, look: (file: FileInFolder) => Result): Result | null {
    try {
      const file = this.#findExactly(scope, path);
      return file && look(file);
    } finally {
      const deepest = wayToScope(this.#kind, scope).length;
      for (const way of this.#open.keys()) if (way.split("/").length > deepest + 1) this.#close(way);
    }
  }

  /** Makes the names in these folders durable, and those in the home. */
  async flush(): Promise<void> {
    await settleAll([...this.#open.values(), this.#home].map((folder) => folder.flush()));
  }

  flushNow(): void {
    for (const folder of [...this.#open.values(), this.#home]) folder.flushNow();
  }

  /** Throws `NAME_CONFLICT` if the disk folds case and has a file whose name differs only in case. */
  refuseTwin(scope: string, path: string): void {
    const twin = this.twinOf(scope, path);
    if (twin !== null) throw twinError(path, twin);
  }

  /** A path as the scope's disk compares it. */
  nameOf(scope: string, path: string): string {
    return this.#isFolding(scope) ? path.toLowerCase() : path;
  }

  /** If the disk folds case: the path of an existing file that differs from this one only in case; else `null`. */
  twinOf(scope: string, path: string): string | null {
    const file = this.#isFolding(scope) ? this.find(scope, path) : null;
    const twin = file && twinOf(file.folder, file.name);
    return twin === null ? null : path.slice(0, path.length - twin.length) + twin;
  }

  /** Whether the ways to these folders lead to them still. `identityAt` looks up a way from the home's path on. */
  areUnchanged(identityAt: (names: readonly string[]) => string | null): boolean {
    for (const [way, { identity }] of this.#open) {
      if (identityAt(way.slice(0, -1).split("/")) !== identity) return false;
    }
    return true;
  }

  /** Closes all folders but those of scopes, and all if there are many: for whoever keeps this for another call. */
  trim(): void {
    const areMany = this.#open.size > keptMax;
    for (const way of this.#open.keys()) if (areMany || way.indexOf("/") < way.length - 1) this.#close(way);
  }

  [Symbol.dispose](): void {
    for (const way of this.#open.keys()) this.#close(way);
  }

  /** The folders on the way to a file, as far as they are there. */
  #way(scope: string, path: string): Directory[] {
    const names = segmentsIn(this.#kind, scope, path);
    // Of a mounted folder, the scope's folder is the home.
    const below = names.map((_, depth) => this.#walk(scope, names.slice(0, depth), openNext));
    return below.filter((folder): folder is Directory => folder !== null && folder !== this.#home);
  }

  #locate(scope: string, path: string, step: Step): FileInFolder | null {
    const segments = segmentsIn(this.#kind, scope, path);
    const name = segments.pop() ?? "";
    const folder = this.#walk(scope, segments, step);
    return folder && { folder, name };
  }

  #walk(scope: string, below: readonly string[], { next, onTwin }: Step): Directory | null {
    let [folder, way] = [this.#home, ""];
    for (const name of [...wayToScope(this.#kind, scope), ...below]) {
      way = `${way}${name}/`;
      const found = this.#open.get(way) ?? next(folder, name);
      if (found === null) return null;
      this.#open.set(way, found);
      if (this.#isFolding(scope) && !exactName(folder, name)) return onTwin(name);
      folder = found;
    }
    return folder;
  }

  #findExactly(scope: string, path: string): FileInFolder | null {
    const file = this.find(scope, path);
    return file && this.#isFolding(scope) && !exactName(file.folder, file.name) ? null : file;
  }

  #close(way: string): void {
    this.#open.get(way)?.[Symbol.dispose]();
    this.#open.delete(way);
  }

  #isFolding(scope: string): boolean {
    const known = this.#folds.get(scope);
    if (known !== undefined) return known;
    const [top] = wayToScope(this.#kind, scope);
    if (top === undefined) return this.#keepFolds(scope, foldsAnyCase(this.#home));
    const folds = foldsCase(this.#home, top);
    return this.#open.has(`${top}/`) ? this.#keepFolds(scope, folds) : folds;
  }

  #keepFolds(scope: string, folds: boolean): boolean {
    this.#folds.set(scope, folds);
    return folds;
  }
}

function twinError(path: string, twin: string): ToolError {
  return new ToolError(
    "NAME_CONFLICT",
    `Cannot write "${path}": "${twin}" is there, and this disk does not distinguish them`,
  );
}
