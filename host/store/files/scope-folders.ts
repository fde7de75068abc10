/**
 * Opens a home, and then what is below it. The security core of the store: nothing else walks through users' folders and
 * shared stores.
 *
 * Every walk starts at the data folder, opens one folder after another and refuses links, so it ends in this home or
 * nowhere. Each call walks again: a folder that was renamed away meanwhile is not used again.
 */
import type { Directory, FileStamp, StampedFile } from "../../disk/directory.ts";
import { forNewFolderIn, inodeIn } from "../../disk/folder-handle.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { Place } from "../../values/change-set.ts";
import { ToolError, orInstead } from "../../values/tool-error.ts";
import { exactName, folded, foldsAnyCase, foldsCase, twinOf } from "./folded-names.ts";
import { hostFolder, segmentsIn, wayToScope } from "./home.ts";
import type { FileHome, HomeKind, homePlaces } from "./home.ts";
import { replacedRecord } from "./record-files.ts";

/** Where to walk from, and the names on the way. */
type Way = Pick<FileHome, "root" | "names">;

/** The folders from the root to a home, or to hints, each held open: it stays the same, whatever becomes of its path. */
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
  static open({ root, names }: Way): HomeFolder | null {
    const folders = walk(root.open(), names, (folder, name) => folder.openFolder(name));
    if (folders.length > names.length) return new HomeFolder(root, [...names, hostFolder], folders);
    closeAll(folders);
    return null;
  }

  /** As `open`, but makes all folders. Durable once they are flushed. */
  static async make({ root, names }: Way): Promise<HomeFolder> {
    const folders = walk(await root.make(), names, (folder, name) => folder.makeFolder(name));
    return new HomeFolder(root, [...names, hostFolder], folders);
  }

  /** Opens the host's own folder and holds it open; `null` if there is none. */
  openOwn(): Directory | null {
    const at = this.#names.length;
    const own = this.#folders[at] ?? this.home.openFolder(hostFolder);
    if (own !== null) this.#folders[at] = own;
    return own;
  }

  /** As `openOwn`, but makes it. */
  makeOwn(): Directory {
    return (this.#folders[this.#names.length] ??= this.home.makeFolder(hostFolder));
  }

  /** Closes all folders but the home, which the caller must close. */
  keepHome(): Directory {
    closeAll(this.#folders.filter((folder) => folder !== this.home));
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
    const names = this.#names.slice(0, -1);
    if (!below.some((name) => name.includes("%"))) return this.#root.identityAt([...names, ...below]);
    // Only an open folder knows how the disk spells such a name.
    const folders = walk(this.#root.open(), [...names, ...below], openNext.next);
    const found = folders[names.length + below.length]?.identity ?? null;
    closeAll(folders);
    return found;
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

  /** Removes the folder if nothing is in it. */
  removeIfEmpty(): void {
    const above = this.#above;
    if (above === null || this.home.entries().length > 0) return;
    // Some systems do not remove a folder that is held open.
    this.home[Symbol.dispose]();
    above.folder.removeFolder(above.name);
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
function walk(
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

function closeAll(folders: readonly Directory[]): void {
  for (const folder of folders) folder[Symbol.dispose]();
}

/** Opens the folder of all users or of all stores; `null` if there is none. */
export function openPlace(root: DataRoot, place: (typeof homePlaces)[number]): Directory | null {
  using data = root.open();
  return data && data.openFolder(place);
}

/** Waits for all flushes, even if one fails: their files must not be closed meanwhile. Throws the first failure. */
export async function settleAll(flushes: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(flushes)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}

export interface FileInFolder {
  /** `ScopeFolders` owns it and closes it. */
  readonly folder: Directory;
  readonly name: string;
}

/** How a walk gets from one folder to the next. `onTwin`: for one that exists under another spelling. */
interface Step {
  readonly next: (folder: Directory, name: string) => Directory | null;
  readonly onTwin: (name: string) => null;
}

const openNext: Step = { next: (folder, name) => folder.openFolder(name), onTwin: () => null };
const makeNext: Step["next"] = (folder, name) => folder.makeFolder(name, forNewFolderIn(folder.permissions));

/** How many folders stay open between two calls. */
const keptMax = 8;

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

  /** `folds`: whether the disk folds case, by scope, as far as that is known. It stays so while a folder is not empty. */
  constructor(
    home: Directory,
    { kind, folds = new Map() }: { readonly kind: HomeKind; readonly folds?: Map<string, boolean> },
  ) {
    this.#home = home;
    this.#kind = kind;
    this.#folds = folds;
  }

  /**
   * Without the host's records in whose place is something else, such as a link or a folder. They count as lost, and keep
   * nobody from the user's files.
   */
  usable<File extends Place>(files: readonly File[]): File[] {
    const isUsable = ({ scope, path }: Place): boolean =>
      orInstead(() => this.read(scope, path), "unusable", "STORAGE_UNSAFE") !== "unusable";
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
      this.#closeBelowScopes();
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
    return this.#isFolding(scope) ? folded(path) : path;
  }

  /** If the disk folds case: the path of an existing file that differs from this one only in case; else `null`. */
  twinOf(scope: string, path: string): string | null {
    const file = this.#isFolding(scope) ? this.find(scope, path) : null;
    const twin = file && twinOf(file.folder, file.name);
    return twin === null ? null : path.slice(0, path.lastIndexOf("/") + 1) + twin;
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
    if (this.#open.size > keptMax) this[Symbol.dispose]();
    this.#closeBelowScopes();
  }

  #closeBelowScopes(): void {
    // A mounted folder is a scope itself.
    const depth = this.#kind === "mount" ? 0 : 1;
    for (const way of this.#open.keys()) if (way.split("/").length > depth + 1) this.#close(way);
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
    const names = segmentsIn(this.#kind, scope, path);
    const folder = this.#walk(scope, names.slice(0, -1), step);
    return folder && { folder, name: names.at(-1) ?? "" };
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
    const folds = top === undefined ? foldsAnyCase(this.#home) : foldsCase(this.#home, top);
    // A scope that is not there yet tells nothing.
    if (top === undefined || this.#open.has(`${top}/`)) this.#folds.set(scope, folds);
    return folds;
  }
}

function twinError(path: string, twin: string): ToolError {
  return new ToolError(
    "NAME_CONFLICT",
    `Cannot write "${path}": "${twin}" is there, and this disk does not distinguish them`,
  );
}
