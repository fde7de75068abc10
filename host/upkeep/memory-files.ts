/** A user's memory outside the store, as data: what `export` gives and `import` takes. */

/** One file of a memory folder. */
export interface MemoryFile {
  /** Inside the memory folder: `MEMORY.md`, `editor.md`, `trash/…`. */
  readonly path: string;
  /** As on the disk. What was edited by hand need be no UTF-8. */
  readonly content: Uint8Array;
}

/** Told how many of how many are done. What it throws ends the operation. */
export type OnProgress = (done: number, total: number) => void;

export interface ExportOptions {
  /** Told of each file that was read. Default: nobody is. */
  readonly onProgress?: OnProgress | undefined;
}

export interface MemoryExport {
  /** Sorted by path. */
  readonly files: readonly MemoryFile[];
  /** What lies there and is no file of memory: links, pipes, giants, strange names. A name may hold any character. */
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
}
