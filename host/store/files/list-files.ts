import type { ListedFile } from "../../../shared/abi.ts";
import { isListed, isScopePath, trashFolder } from "../../../shared/path.ts";
import type { Directory, Measured } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { sorted } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import { byPath, tooManyFiles } from "../reading.ts";
import { noFiles, sumOf } from "../scope-size.ts";
import type { FileSum } from "../scope-size.ts";
import { exactName, foldsCase } from "./folded-names.ts";

/** Measured files of one folder, by path: a call that lists files often sums their sizes too. */
export type MeasuredFiles = Map<string, Measured>;

/**
 * Lists the files under a prefix, sorted by path. Skips what a read would refuse. Throws `QUOTA_EXCEEDED` if there are
 * more than `filesMax`.
 */
export function* listFiles(
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
export function* listTrash(folder: Directory): Pieces<ListedFile[]> {
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
export function* liveFiles(folder: Directory, known: MeasuredFiles): Pieces<FileSum> {
  return yield* sumBelow(folder, { above: "", isEntered: isNoTrash }, known);
}

/** Measures the files in a scope's trash. */
export function* trashedFiles(folder: Directory, known: MeasuredFiles): Pieces<FileSum> {
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
