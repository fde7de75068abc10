/** A user's memory outside the store, as data: what `export` gives and `import` takes. */
import type { ErrorCode } from "../../shared/errors.ts";
import type { MemoryFile } from "../values/memory-file.ts";
import type { Finding } from "./finding.ts";

/** Told how many of how many are done. What it throws ends the operation. */
export type OnProgress = (done: number, total: number) => void;

export interface ExportOptions {
  /** Told of each file that was read. Default: nobody is. */
  readonly onProgress?: OnProgress | undefined;
}

export interface MemoryExport {
  /** Other scopes of the user, sorted: nothing of them is in the export. */
  readonly otherScopes: readonly string[];
  /** Sorted by path. */
  readonly files: readonly MemoryFile[];
  /** What lies there and is no file of memory: links, pipes, giants, strange names, what no import takes. A name may hold any character. */
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
}

export interface ImportOptions {
  /** Whether an entry that is there with other content goes to the trash. Default: the import is refused. */
  readonly replace?: boolean | undefined;
}

/** What an import does, or would do. Paths are inside the memory folder. */
export interface ImportPlan {
  /** Files that were not there. */
  readonly created: readonly string[];
  /** Entries that were there with other content, which goes to the trash. */
  readonly replaced: readonly string[];
  /** Files that are there with the same content, and the index when there is one: it stays, and gets lines for what is new. */
  readonly skipped: readonly string[];
  /** What is added to the trash, by the names it gets there: where a name is taken by another file, it is a free one. */
  readonly trashed: readonly string[];
  /** What is written of the import's own, in bytes. */
  readonly bytes: number;
  /** What else is put right, as `mend` does it. */
  readonly mended: readonly Finding[];
  /** Why nothing is imported: empty when all is well. At most 100; the rest is counted. */
  readonly refused: readonly RefusedFile[];
  readonly refusedHidden: number;
}

export interface RefusedFile {
  /** `memory` for what is wrong with all of them together. It may hold any character. */
  readonly path: string;
  readonly code: ErrorCode;
  /** As a clause about "it". */
  readonly reason: string;
}
