import type { ListedFile } from "../../../shared/abi.ts";
import { storeLimits } from "../../../shared/limits.ts";
import { scopeName, isListed, isScopePath, trashFolder } from "../../../shared/path.ts";
import type { Directory, Measured } from "../../disk/directory.ts";
import { openHanded } from "../../disk/open-handed.ts";
import type { Seen } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { atOnce, inTurns, sorted } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { DirectFiles } from "../held-reads.ts";
import type { ScopeSurvey, UnfitFile } from "../holding.ts";
import type { KnownOfUser, UserReader } from "../readers.ts";
import { checkedScope, decodeText, SeenFiles, segmentsOf, byPath, tooManyFiles } from "../reading.ts";
import { noFiles, sumOf } from "../scope-size.ts";
import type { FileSum, KnownSizes, ScopeSize } from "../scope-size.ts";
import { exactName, foldsCase } from "./folded-names.ts";
import { HomeFolder } from "./home-folder.ts";
import { checkOwner } from "./home-owner.ts";
import { hasPlace, hostFolder } from "./home.ts";
import type { FileHome, HomeKind } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";
import { surveyFiles } from "./survey-files.ts";

/** Reads the scopes of one home for one call. */
export class FileReader implements UserReader {
  readonly #kind: HomeKind;
  readonly #mountedScope: string | null;
  /** `null` if the home had no folder when the call began, and so has no files. */
  readonly #home: Directory | null;
  readonly #scopes: ScopeFolders | null;
  /** Measured once: a reader serves one call, and meanwhile no host changes the scopes. */
  readonly #sizes = new Map<string, MeasuredFiles>();
  readonly #known: Map<string, Partial<ScopeSize>>;
  /** The scopes whose sizes were measured in this call. */
  readonly #measured = new Set<string>();
  readonly #seen = new SeenFiles();
  readonly #notesSeen: NonNullable<KnownOfUser["notesSeen"]>;

  constructor(home: FileHome, { knownSizes = {}, handed = null, notesSeen = true }: KnownOfUser = {}) {
    this.#notesSeen = notesSeen;
    this.#known = new Map(Object.entries(knownSizes));
    this.#kind = home.kind;
    this.#mountedScope = home.mountedScope;
    const held = handed && "folder" in handed && handed.key === home.key ? handed : null;
    const opened = held && openHanded(held.folder);
    this.#home = opened ?? walkTo(home);
    const folds = opened && held ? new Map(held.folds) : new Map<string, boolean>();
    this.#scopes = this.#home && new ScopeFolders(this.#home, { kind: home.kind, folds });
  }

  get knownSizes(): KnownSizes {
    return Object.fromEntries(this.#known);
  }

  get seen(): Seen[] {
    return this.#seen.list();
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

  read(scope: string, path: string): string | null {
    if (!this.#notesSeen) {
      const content = this.bytesOf(scope, path);
      return content && decodeText(content, path);
    }
    if (this.#notesSeen === "contents") {
      const content = this.bytesOf(scope, path);
      this.#seen.note(scope, path, content);
      return content && decodeText(content, path);
    }
    const found = this.#look(scope, path, (folder, name) => folder.readStamped(name, path));
    this.#seen.note(scope, path, found && found.content, found?.stamp?.text);
    return found && decodeText(found.content, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    return atOnce(this.listing(scope, prefix, storeLimits.listEntriesMax));
  }

  *listing(scope: string, prefix: string, filesMax: number): Pieces<ListedFile[]> {
    const folder = this.#folderOf(scope);
    return folder === null ? [] : yield* listFiles(folder, { prefix, filesMax }, this.#sizesOf(scope));
  }

  *listingTrash(scope: string): Pieces<ListedFile[]> {
    const folder = this.#folderOf(scope);
    return folder === null ? [] : yield* listTrash(folder);
  }

  sizeOf(scope: string, path: string): number | null {
    return this.#look(scope, path, (folder, name) => folder.sizeOf(name, path));
  }

  scopeSize(scope: string, isAnew = false): ScopeSize {
    return atOnce(this.measuring(scope, isAnew));
  }

  *measuring(scope: string, isAnew = false): Pieces<ScopeSize> {
    const known = isAnew && !this.#measured.has(scope) ? {} : this.#known.get(scope);
    const folder = known?.live && known.trash ? null : this.#folderOf(scope);
    const sizes = this.#sizesOf(scope);
    function* measure(sum: typeof liveFiles): Pieces<FileSum> {
      return folder ? yield* sum(folder, sizes) : noFiles;
    }
    const live = known?.live ?? (yield* measure(liveFiles));
    const size = { live, trash: known?.trash ?? (yield* measure(trashedFiles)) };
    if (!known?.live && !known?.trash) this.#measured.add(scope);
    this.#known.set(scope, size);
    return size;
  }

  *surveying(scope: string): Pieces<ScopeSurvey> {
    const folder = this.#folderOf(scope);
    if (folder === null) return { files: [], unfit: [] };
    return yield* surveyFiles(folder, this.#mountedScope === null ? null : hostFolder);
  }

  bytesOf(scope: string, path: string): Uint8Array | null {
    return this.#look(scope, path, (folder, name) => folder.read(name, path));
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

/** As the main thread reads, which serves others between two pieces. */
export const heldFiles = (reader: FileReader): DirectFiles => ({
  scopes: () => reader.scopes(),
  beside: () => reader.beside(),
  list: (scope, prefix, filesMax) => inTurns(reader.listing(scope, prefix, filesMax)),
  listTrash: (scope) => inTurns(reader.listingTrash(scope)),
  survey: (scope) => inTurns(reader.surveying(scope)),
  scopeSize: (scope) => inTurns(reader.measuring(scope)),
  bytesOf: (scope, path) => reader.bytesOf(scope, path),
  [Symbol.dispose]: () => reader[Symbol.dispose](),
});

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
 * Lists the files under a prefix, sorted by path. Skips what a read would refuse. Throws `QUOTA_EXCEEDED` if there are
 * more than `filesMax`.
 */
function* listFiles(
  folder: Directory,
  { prefix, filesMax }: { readonly prefix: string; readonly filesMax: number },
  known: MeasuredFiles,
): Pieces<ListedFile[]> {
  const found: ListedFile[] = [];
  const above = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  using start = new Descent(folder, above.split("/").slice(0, -1));
  if (start.end === null) return found;
  yield* walkFiles(
    start.end,
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

/** The folders that a prefix names. Only the last is listed: one above it can have thousands of files. */
class Descent implements Disposable {
  readonly #opened: Directory[] = [];
  /** `null` if one of the folders is not there, or is none: a list skips what else there is. */
  readonly end: Directory | null;

  constructor(folder: Directory, names: readonly string[]) {
    let end: Directory | null = folder;
    for (const name of names) {
      end = end && folderIn(end, name);
      if (end !== null) this.#opened.push(end);
    }
    this.end = end;
  }

  [Symbol.dispose](): void {
    for (const each of this.#opened) each[Symbol.dispose]();
  }
}

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

/** Measures the files of a scope outside its trash, which is not entered. */
function* liveFiles(folder: Directory, known: MeasuredFiles): Pieces<FileSum> {
  return yield* sumBelow(folder, { above: "", isEntered: isNoTrash }, known);
}

/** Measures the files in a scope's trash. */
function* trashedFiles(folder: Directory, known: MeasuredFiles): Pieces<FileSum> {
  using trash = folder.openFolder(trashFolder);
  if (trash === null) return noFiles;
  return yield* sumBelow(trash, { above: `${trashFolder}/`, isEntered: () => true }, known);
}

const isNoTrash = (path: string): boolean => path !== trashFolder;

function* sumBelow(
  folder: Directory,
  { above, isEntered }: { readonly above: string; readonly isEntered: (path: string) => boolean },
  known: MeasuredFiles,
): Pieces<FileSum> {
  let sum = noFiles;
  yield* walkFiles(folder, above, isEntered, (path, measure) => {
    const measured = measureOnce(path, measure, known);
    if (measured !== null) sum = sumOf(sum, { files: 1, bytes: measured.bytes });
  });
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
