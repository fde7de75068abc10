import type { ListedFile } from "../../../shared/abi.ts";
import { isListed, isScopePath, scopeName, trashFolder } from "../../../shared/path.ts";
import type { Directory, Measured } from "../../disk/directory.ts";
import { DiskRoot, openHanded } from "../../disk/pinned-directory.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { StoreId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import { sorted } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { FilesLocation } from "../definition.ts";
import { entriesScope, storeHome, userHome } from "../home.ts";
import { UserReader } from "../readers.ts";
import type { Handed, Stamped, StoreReaders, ThreadFiles } from "../readers.ts";
import { byPath, checkedScope, checkedStore, noFiles, segmentsOf, sumOf, tooManyFiles } from "../reading.ts";
import type { FileSum, Files, ScopeSize, ScopeSurvey, UnfitFile } from "../reading.ts";
import { exactName, foldsCase } from "./folded-names.ts";
import { checkOwner } from "./home-owner.ts";
import { fileHome, hasPlace, hostFolder, mountHome, mountRootOf } from "./home.ts";
import type { FileHome, HomeKind, MountRoot } from "./home.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
import { surveyFiles } from "./survey-files.ts";

/** Reads the scopes of one home, for one call or one hold. */
export class FileReader implements Files<false>, ThreadFiles {
  readonly #kind: HomeKind;
  readonly #mountedScope: string | null;
  /** `null` if the home had no folder when it was opened, and so has no files. */
  readonly #home: Directory | null;
  readonly #scopes: ScopeFolders | null;
  /** Measured once: meanwhile no host changes the scopes. */
  readonly #sizes = new Map<string, MeasuredFiles>();

  constructor(home: FileHome, handed: Handed | null = null) {
    this.#kind = home.kind;
    this.#mountedScope = home.mountedScope;
    const held = handed && "folder" in handed && handed.key === home.key ? handed : null;
    const opened = held && openHanded(held.folder);
    this.#home = opened ?? walkTo(home);
    const folds = opened && held ? new Map(held.folds) : new Map<string, boolean>();
    this.#scopes = this.#home && new ScopeFolders(this.#home, { kind: home.kind, folds });
  }

  /** Folders only; the doctor reports anything else. */
  scopes(): string[] {
    if (this.#home === null) return [];
    if (this.#mountedScope !== null) return [this.#mountedScope];
    const folders = this.#home.entries().filter(({ name, kind }) => kind === "folder" && this.#isScope(name));
    return folders.map(({ name }) => name).toSorted();
  }

  /** A mounted folder is one scope as a whole. */
  beside(): UnfitFile[] {
    if (this.#home === null || this.#mountedScope !== null) return [];
    const others = this.#home.entries().filter(({ name, kind }) => !(kind === "folder" && this.#isScope(name)));
    return others
      .filter(({ name }) => name !== hostFolder)
      .map(({ name }) => ({
        path: name,
        reason: this.#isScope(name) ? "it is not a folder" : "its name is not a scope's",
      }));
  }

  readStamped(scope: string, path: string): Stamped | null {
    return this.#look(scope, path, (folder, name) => folder.readStamped(name, path));
  }

  bytesOf(scope: string, path: string): Uint8Array | null {
    return this.#look(scope, path, (folder, name) => folder.read(name, path));
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#look(scope, path, (folder, name) => folder.sizeOf(name, path));
  }

  *list(scope: string, prefix: string, filesMax: number): Pieces<ListedFile[]> {
    const folder = this.#folderOf(scope);
    return folder === null ? [] : yield* listFiles(folder, { prefix, filesMax }, this.#sizesOf(scope));
  }

  *listTrash(scope: string): Pieces<ListedFile[]> {
    const folder = this.#folderOf(scope);
    return folder === null ? [] : yield* listTrash(folder);
  }

  *scopeSize(scope: string, known: Partial<ScopeSize> = {}): Pieces<ScopeSize> {
    const folder = known.live && known.trash ? null : this.#folderOf(scope);
    const sizes = this.#sizesOf(scope);
    const live = known.live ?? (folder ? yield* sumOfPart(folder, "live", sizes) : noFiles);
    return { live, trash: known.trash ?? (folder ? yield* sumOfPart(folder, "trash", sizes) : noFiles) };
  }

  *survey(scope: string): Pieces<ScopeSurvey> {
    const folder = this.#folderOf(scope);
    if (folder === null) return { files: [], unfit: [] };
    return yield* surveyFiles(folder, this.#mountedScope === null ? null : hostFolder);
  }

  #folderOf(scope: string): Directory | null {
    return this.#has(scope) ? (this.#scopes?.folderOf(scope) ?? null) : null;
  }

  #look<Result>(scope: string, path: string, look: (folder: Directory, name: string) => Result | null): Result | null {
    segmentsOf(path);
    return this.#has(scope)
      ? (this.#scopes?.look(scope, path, ({ folder, name }) => look(folder, name)) ?? null)
      : null;
  }

  /** A mounted folder has only one scope. */
  #has(scope: string): boolean {
    checkedScope(scope);
    return this.#mountedScope === null || scope === this.#mountedScope;
  }

  #isScope(name: string): boolean {
    return scopeName.test(name) && hasPlace(this.#kind, name, "");
  }

  #sizesOf(scope: string): MeasuredFiles {
    const known: MeasuredFiles = this.#sizes.get(scope) ?? new Map();
    this.#sizes.set(scope, known);
    return known;
  }

  [Symbol.dispose](): void {
    for (const each of [this.#scopes, this.#home]) each?.[Symbol.dispose]();
  }
}

/** Opens a home's folder, if it is the owner's; `null` if there is none. */
function walkTo(home: FileHome): Directory | null {
  const folder = HomeFolder.open(home);
  try {
    checkOwner(folder?.openOwn() ?? null, home);
  } catch (error) {
    folder?.[Symbol.dispose]();
    throw error;
  }
  return folder?.keepHome() ?? null;
}

/** Measured files of one folder, by path: a call that lists files often sums their sizes too. */
type MeasuredFiles = Map<string, Measured>;

/**
 * Lists the files under a prefix, sorted by path: of the folders that it names, only the last is listed, because one above it
 * can have thousands of files. Skips what a read would refuse. Throws `QUOTA_EXCEEDED` if there are more than `filesMax`.
 */
function* listFiles(
  folder: Directory,
  asked: { readonly prefix: string; readonly filesMax: number },
  known: MeasuredFiles,
  above = "",
): Pieces<ListedFile[]> {
  const { prefix, filesMax } = asked;
  const end = prefix.indexOf("/", above.length);
  if (end >= 0) {
    using below = folderIn(folder, prefix.slice(above.length, end));
    return below === null ? [] : yield* listFiles(below, asked, known, prefix.slice(0, end + 1));
  }
  const found: ListedFile[] = [];
  yield* walkFiles(
    folder,
    above,
    (path) => isListed(`${path}/`, prefix),
    (path, measure) => {
      if (!isListed(path, prefix)) return;
      const measured = measureOnce(path, measure, known);
      if (!measured?.isPlain) return;
      if (found.length >= filesMax) throw tooManyFiles();
      found.push({ path, bytes: measured.bytes, changedUs: measured.changedUs });
    },
  );
  return yield* sorted(found, byPath);
}

/** `null` if the folder is not there, or is none: a list skips what else there is. */
function folderIn(folder: Directory, name: string): Directory | null {
  if (foldsCase(folder, name) && !exactName(folder, name)) return null;
  try {
    return folder.openFolder(name);
  } catch (error) {
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
    throw error;
  }
}

/** All files that count in a scope's trash. */
function* listTrash(folder: Directory): Pieces<ListedFile[]> {
  const found: ListedFile[] = [];
  using trash = folder.openFolder(trashFolder);
  if (trash === null) return found;
  yield* walkFiles(
    trash,
    `${trashFolder}/`,
    () => true,
    (path, measure) => {
      const measured = measure();
      if (measured !== null) found.push({ path, bytes: measured.bytes, changedUs: measured.changedUs });
    },
  );
  return yield* sorted(found, byPath);
}

/** Measures the files in a scope's trash, or those outside, without a look into the trash. */
function* sumOfPart(scope: Directory, part: keyof ScopeSize, known: MeasuredFiles): Pieces<FileSum> {
  const isTrash = part === "trash";
  using trash = isTrash ? scope.openFolder(trashFolder) : null;
  const folder = isTrash ? trash : scope;
  let sum = noFiles;
  if (folder === null) return sum;
  yield* walkFiles(
    folder,
    isTrash ? `${trashFolder}/` : "",
    (path) => isTrash || path !== trashFolder,
    (path, measure) => {
      const measured = measureOnce(path, measure, known);
      if (measured !== null) sum = sumOf(sum, { files: 1, bytes: measured.bytes });
    },
  );
  return sum;
}

/** `null` for a file that has been removed meanwhile. */
function measureOnce(path: string, measure: () => Measured | null, known: MeasuredFiles): Measured | null {
  const measured = known.get(path) ?? measure();
  if (measured !== null) known.set(path, measured);
  return measured;
}

/** Visits the files below a folder whose paths a guest can name. Skips links, devices and names outside the grammar. */
function* walkFiles(
  folder: Directory,
  above: string,
  isEntered: (path: string) => boolean,
  visit: (path: string, measure: () => Measured | null) => void,
): Pieces<void> {
  for (const { name, kind } of folder.entries()) {
    yield;
    const path = above + name;
    if (!isScopePath(path)) continue;
    if (kind === "folder" && isEntered(path)) {
      using below = folder.openFolder(name);
      if (below) yield* walkFiles(below, `${path}/`, isEntered, visit);
    }
    if (kind === "file") visit(path, () => folder.measure(name));
  }
}

/** Opens the readers of a location in a thread. */
export const openFileReaders = ({ dir, mounts }: FilesLocation): StoreReaders =>
  readersOf(new DiskRoot(dir), mounts.map(mountRootOf));

export const readersOf = (root: DataRoot, mounts: readonly MountRoot[] = []): StoreReaders => ({
  open: (userId, scopes = [], known = {}) => {
    if (userId === null) return new UserReader(new FilesOfStores(root), known);
    const mount = mounts.find((each) => each.userId === userId && scopes.includes(each.scope));
    const home = mount ? fileHome(mountHome(mount), mount.root) : fileHome(userHome(userId), root);
    return new UserReader(new FileReader(home, known.handed), known);
  },
});

/** How many stores' folders are open at once: a call can read a thousand stores. */
const openMax = 32;

/** The entries of shared stores. */
class FilesOfStores implements ThreadFiles {
  readonly #root: DataRoot;
  /** The one that was used last comes last. */
  readonly #open = new Map<StoreId, FileReader>();

  constructor(root: DataRoot) {
    this.#root = root;
  }

  bytesOf(scope: string, path: string): Uint8Array | null {
    return this.#of(scope).bytesOf(entriesScope, path);
  }

  list(scope: string, prefix: string, filesMax: number): Pieces<ListedFile[]> {
    return this.#of(scope).list(entriesScope, prefix, filesMax);
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#of(scope).sizeOf(entriesScope, path);
  }

  scopeSize(scope: string, known: Partial<ScopeSize>): Pieces<ScopeSize> {
    return this.#of(scope).scopeSize(entriesScope, known);
  }

  [Symbol.dispose](): void {
    for (const reader of this.#open.values()) reader[Symbol.dispose]();
    this.#open.clear();
  }

  #of(scope: string): FileReader {
    const id = checkedStore(scope);
    const reader = this.#open.get(id) ?? new FileReader(fileHome(storeHome(id), this.#root));
    this.#open.delete(id);
    this.#open.set(id, reader);
    const [oldest] = this.#open;
    if (this.#open.size > openMax && oldest !== undefined) {
      oldest[1][Symbol.dispose]();
      this.#open.delete(oldest[0]);
    }
    return reader;
  }
}
