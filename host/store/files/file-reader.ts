import type { ListedFile } from "../../../shared/abi.ts";
import { isListed, isScopePath, scopeName, trashFolder } from "../../../shared/path.ts";
import type { Directory, Measured } from "../../disk/directory.ts";
import { DiskRoot, openHanded } from "../../disk/pinned-directory.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import type { StoreId } from "../../values/ids.ts";
import { orInstead } from "../../values/tool-error.ts";
import { sorted } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { FilesLocation } from "../definition.ts";
import { entriesScope, storeHome, userHome } from "../home.ts";
import {
  UserReader,
  byPath,
  checkedScope,
  checkedStore,
  noFiles,
  segmentsOf,
  sumOf,
  tooManyFiles,
} from "../reading.ts";
import type {
  FileSum,
  Files,
  Handed,
  ScopeSize,
  ScopeSurvey,
  StoreReaders,
  ThreadFiles,
  UnfitFile,
} from "../reading.ts";
import { exactName, foldsCase } from "./folded-names.ts";
import { openOwned } from "./home-owner.ts";
import { fileHome, fileMount, hasPlace, hostFolder } from "./home.ts";
import type { FileHome, FileMount, HomeKind } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";
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
  readonly #leftOut = new Map<string, number>();

  constructor(home: FileHome, handed: Handed | null = null) {
    this.#kind = home.kind;
    this.#mountedScope = home.kind === "mount" ? home.scope : null;
    const held = handed && "folder" in handed && handed.key === home.key ? handed : null;
    const opened = held && openHanded(held.folder, home.kind === "mount");
    this.#home = opened ?? openOwned(home)?.keepHome() ?? null;
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

  readStamped(scope: string, path: string): ReturnType<NonNullable<ThreadFiles["readStamped"]>> {
    return this.#look(scope, path, (folder, name) => folder.readStamped(name, path));
  }

  bytesOf(scope: string, path: string): Uint8Array | null {
    return this.#look(scope, path, (folder, name) => folder.read(name, path));
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#look(scope, path, (folder, name) => folder.sizeOf(name, path));
  }

  timesOf(scope: string, path: string): Pick<Measured, "changedUs" | "writtenUs"> | null {
    const measured = this.#look(scope, path, (folder, name) => folder.measure(name));
    return measured && { changedUs: measured.changedUs, writtenUs: measured.writtenUs };
  }

  *list(scope: string, prefix: string, filesMax: number): Pieces<ListedFile[]> {
    const folder = this.#folderOf(scope);
    if (folder === null) return [];
    let leftOut = 0;
    const leaveOut = (): void => void leftOut++;
    const found = yield* listFiles(folder, { prefix, filesMax, leaveOut }, this.#sizesOf(scope));
    if (prefix === "") this.#leftOut.set(scope, leftOut);
    return found;
  }

  leftOutOf(scope: string): number {
    return this.#leftOut.get(scope) ?? 0;
  }

  *listTrash(scope: string): Pieces<ListedFile[]> {
    const folder = this.#folderOf(scope);
    const found: ListedFile[] = [];
    if (folder !== null) {
      yield* walkTrash(folder, this.#sizesOf(scope), (path, { bytes, changedUs }) =>
        found.push({ path, bytes, changedUs }),
      );
    }
    return yield* sorted(found, byPath);
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

/** Measured files of one folder, by path: a call that lists files often sums their sizes too. */
type MeasuredFiles = Map<string, Measured>;

/**
 * Lists the files under a prefix, sorted by path: of the folders that it names, only the last is listed, because one above it
 * can have thousands of files. Skips what a read would refuse. Throws `QUOTA_EXCEEDED` if there are more than `filesMax`.
 */
function* listFiles(
  folder: Directory,
  asked: { readonly prefix: string; readonly filesMax: number; readonly leaveOut: () => void },
  known: MeasuredFiles,
  above = "",
): Pieces<ListedFile[]> {
  const { prefix, filesMax, leaveOut } = asked;
  const end = prefix.indexOf("/", above.length);
  if (end >= 0) {
    using below = folderIn(folder, prefix.slice(above.length, end));
    return below === null ? [] : yield* listFiles(below, asked, known, prefix.slice(0, end + 1));
  }
  const found: ListedFile[] = [];
  const isWanted: Wanted = (path, kind) => isListed(kind === "folder" ? `${path}/` : path, prefix);
  yield* walkFiles({ folder, above, isWanted, known, leaveOut }, (path, { isPlain, bytes, changedUs }) => {
    if (!isPlain) return leaveOut();
    if (found.length >= filesMax) throw tooManyFiles();
    found.push({ path, bytes, changedUs });
  });
  return yield* sorted(found, byPath);
}

/** `null` if the folder is not there, or is none: a list skips what else there is. */
function folderIn(folder: Directory, name: string): Directory | null {
  const canHaveTwin = name.includes("%") || foldsCase(folder, name);
  if (canHaveTwin && !exactName(folder, name)) return null;
  return orInstead(() => folder.openFolder(name), null, "STORAGE_UNSAFE");
}

/** Visits all files that count in a scope's trash. There can be any number. */
function* walkTrash(scope: Directory, known: MeasuredFiles, visit: Visit): Pieces<void> {
  using folder = scope.openFolder(trashFolder);
  if (folder !== null) yield* walkFiles({ folder, above: `${trashFolder}/`, isWanted: () => true, known }, visit);
}

/** Measures the files in a scope's trash, or those outside, without a look into the trash. */
function* sumOfPart(scope: Directory, part: keyof ScopeSize, known: MeasuredFiles): Pieces<FileSum> {
  let sum = noFiles;
  const add: Visit = (_, { bytes }) => {
    sum = sumOf(sum, { files: 1, bytes });
  };
  if (part === "trash") yield* walkTrash(scope, known, add);
  else yield* walkFiles({ folder: scope, above: "", isWanted: isLive, known }, add);
  return sum;
}

const isLive: Wanted = (path, kind) => kind === "file" || path !== trashFolder;

type Wanted = (path: string, kind: "file" | "folder") => boolean;
type Visit = (path: string, measured: Measured) => void;

interface Walk {
  readonly folder: Directory;
  /** The path of the folder, with a slash behind it; nothing for a scope. */
  readonly above: string;
  readonly isWanted: Wanted;
  readonly known: MeasuredFiles;
  /** Called for what no guest can name. A name that begins with a dot belongs to another program, such as `.git`. */
  readonly leaveOut?: (() => void) | undefined;
}

/**
 * Visits the files below a folder whose paths a guest can name. Skips links, devices, names outside the grammar, and what has
 * been removed meanwhile.
 */
function* walkFiles({ folder, above, isWanted, known, leaveOut }: Walk, visit: Visit): Pieces<void> {
  for (const { name, kind } of folder.entries()) {
    yield;
    const path = above + name;
    if (kind === "other" || !isScopePath(path)) {
      if (!name.startsWith(".")) leaveOut?.();
      continue;
    }
    if (!isWanted(path, kind)) continue;
    if (kind === "folder") {
      using below = folder.openFolder(name);
      if (below) yield* walkFiles({ folder: below, above: `${path}/`, isWanted, known, leaveOut }, visit);
      continue;
    }
    const measured = known.get(path) ?? folder.measure(name);
    if (measured === null) continue;
    known.set(path, measured);
    visit(path, measured);
  }
}

/** Opens the readers of a location in a thread. */
export const openFileReaders = ({ dir, mounts }: FilesLocation): StoreReaders =>
  readersOf(new DiskRoot(dir), mounts.map(fileMount));

export const readersOf = (root: DataRoot, mounts: readonly FileMount[] = []): StoreReaders => ({
  open: (userId, scopes = [], known = {}) => {
    if (userId === null) return new UserReader(filesOfStores(root), known);
    const mount = mounts.find((each) => each.id === userId && scopes.includes(each.scope));
    return new UserReader(new FileReader(mount ?? fileHome(userHome(userId), root), known.handed), known);
  },
});

/** How many stores' folders are open at once: a call can read a thousand stores. */
const openMax = 32;

/** The entries of shared stores. */
function filesOfStores(root: DataRoot): ThreadFiles {
  /** The one that was used last comes last. */
  const open = new Map<StoreId, FileReader>();
  function of(scope: string): FileReader {
    const id = checkedStore(scope);
    const reader = open.get(id) ?? new FileReader(fileHome(storeHome(id), root));
    open.delete(id);
    open.set(id, reader);
    const [oldest] = open;
    if (open.size > openMax && oldest !== undefined) {
      oldest[1][Symbol.dispose]();
      open.delete(oldest[0]);
    }
    return reader;
  }
  return {
    bytesOf: (scope, path) => of(scope).bytesOf(entriesScope, path),
    list: (scope, prefix, filesMax) => of(scope).list(entriesScope, prefix, filesMax),
    sizeOf: (scope, path) => of(scope).sizeOf(entriesScope, path),
    scopeSize: (scope, known) => of(scope).scopeSize(entriesScope, known),
    [Symbol.dispose]: () => {
      for (const reader of open.values()) reader[Symbol.dispose]();
      open.clear();
    },
  };
}
