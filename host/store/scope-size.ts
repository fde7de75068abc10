/** How large scopes are. A scope's trash is measured apart: it can hold far more files than the tools work with. */
import { isTrashPath } from "../../shared/path.ts";

/** How many files there are, and their bytes together. */
export interface FileSum {
  readonly files: number;
  readonly bytes: number;
}

export interface ScopeSize {
  /** All files outside the trash. */
  readonly live: FileSum;
  readonly trash: FileSum;
}

/** What is known of the sizes of some scopes and need not be measured, by scope. */
export type KnownSizes = Readonly<Record<string, Partial<ScopeSize>>>;

export const noFiles: FileSum = { files: 0, bytes: 0 };

export const sumOf = (a: FileSum, b: FileSum): FileSum => ({ files: a.files + b.files, bytes: a.bytes + b.bytes });

/** Where a file of this path counts. */
export const partOf = (path: string): keyof ScopeSize => (isTrashPath(path) ? "trash" : "live");

export function sizeOfFiles(files: Iterable<{ readonly path: string; readonly bytes: number }>): ScopeSize {
  const size = { live: noFiles, trash: noFiles };
  for (const { path, bytes } of files) size[partOf(path)] = sumOf(size[partOf(path)], { files: 1, bytes });
  return size;
}

export interface GrowingFile {
  readonly scope: string;
  readonly path: string;
  /** By how much the file makes its scope larger. */
  readonly growth: FileSum;
}

/** The sizes of scopes after a plan, as far as they were known before. */
export function sizesAfter(known: KnownSizes, planned: readonly GrowingFile[]): KnownSizes {
  const after = new Map(Object.entries(known));
  for (const { scope, path, growth } of planned) {
    const size = after.get(scope);
    const part = partOf(path);
    const before = size?.[part];
    if (before !== undefined) after.set(scope, { ...size, [part]: sumOf(before, growth) });
  }
  return Object.fromEntries(after);
}
