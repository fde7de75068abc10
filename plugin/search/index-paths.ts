import type { SearchedFile } from "./searched.ts";

/** The numbers are in the order of the paths. */
const digits = 6;

export function indexPath(folder: string, number: number): string {
  return `${folder}/${String(number).padStart(digits, "0")}.txt`;
}

/** The number of an index file, or `null` for another path. */
function numberOf(folder: string, path: string): number | null {
  const number = Number(path.slice(folder.length + 1, -".txt".length));
  return path === indexPath(folder, number) && number > 0 ? number : null;
}

export const isIndexFile = (path: string, folder: string): boolean => numberOf(folder, path) !== null;

/** The files of a listing that are an index's. */
export function indexFilesIn(files: readonly SearchedFile[], folder: string): SearchedFile[] {
  return files.filter(({ path }) => isIndexFile(path, folder));
}

/** How many files the index has. Entries are spread over so many, also if people removed one. */
export function indexFilesCount(files: readonly SearchedFile[], folder: string): number {
  return files.reduce((most, { path }) => Math.max(most, numberOf(folder, path) ?? 0), 0);
}
