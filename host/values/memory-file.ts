/** One file of a memory folder. */
export interface MemoryFile {
  /** Inside the memory folder: `MEMORY.md`, `editor.md`, `trash/…`. */
  readonly path: string;
  /** As on the disk. What was edited by hand need be no UTF-8. */
  readonly content: Uint8Array;
}
