/** A user's files outside the store, as data: what `export` gives and `import` takes. */
import type { ErrorCode } from "../../shared/errors.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import type { Finding } from "./finding.ts";

/** Told how many of how many are done. What it throws ends the operation. */
export type OnProgress = (done: number, total: number) => void;

export interface ExportOptions {
  /** The scopes to export. Default: all that the user has. */
  readonly scopes?: readonly string[] | undefined;
  /** Told of each file that was read. Default: nobody is. */
  readonly onProgress?: OnProgress | undefined;
}

export interface MemoryExport {
  /** Of all scopes, sorted by scope and path. */
  readonly files: readonly MemoryFile[];
  /** What lies there and is no file of memory: links, pipes, giants, strange names. A name may hold any character. */
  readonly leftOut: readonly LeftOutFile[];
}

export interface LeftOutFile {
  readonly scope: string;
  readonly path: string;
  /** As a clause about "it". */
  readonly reason: string;
}

export interface ImportOptions {
  /** The scopes to import; files of others are passed over. Default: all that files are of. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether a file that is there with other content goes to the trash. Default: the import is refused. */
  readonly replace?: boolean | undefined;
}

/** What an import does, or would do. Paths begin with the scope: `memory/editor.md`. */
export interface ImportPlan {
  /** Files that were not there. */
  readonly created: readonly string[];
  /** Files that were there with other content, which goes to the trash. */
  readonly replaced: readonly string[];
  /** Files that are there with the same content, and those that a plugin makes from others, such as an index: they stay, and their plugin brings them up to date. */
  readonly skipped: readonly string[];
  /** What is added to the trash, by the names it gets there: where a name is taken by another file, it is a free one. */
  readonly trashed: readonly string[];
  /** What is written of the import's own, in bytes. */
  readonly bytes: number;
  /** What else is put right, as `mend` does it. */
  readonly mended: readonly Finding[];
  /**
   * What is not imported, while the rest is: files under paths that their plugin keeps nothing under, and scopes that no loaded
   * plugin has. When nothing else is there, they are refused.
   */
  readonly leftOut: readonly RefusedFile[];
  /** Why nothing is imported: empty when all is well. At most 100; the rest is counted. */
  readonly refused: readonly RefusedFile[];
  readonly refusedHidden: number;
}

export interface RefusedFile {
  /** With its scope before it; the scope alone for what holds for all of its files. It may hold any character. */
  readonly path: string;
  readonly code: ErrorCode;
  /** As a clause about "it". */
  readonly reason: string;
}
