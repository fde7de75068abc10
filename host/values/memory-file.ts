/** One file of a user's, outside the store. */
export interface MemoryFile {
  /** Which plugin's files it is among: the name of a scope, such as `memory` or `journal`. */
  readonly scope: string;
  /** Inside the scope: `editor.md`, `trash/…`. */
  readonly path: string;
  /** As on the disk. What was edited by hand need be no UTF-8. */
  readonly content: Uint8Array;
}
