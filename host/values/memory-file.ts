import type { OriginClass } from "../../shared/origin.ts";

/** One file of a user, outside the store. */
export interface MemoryFile {
  /** The name of its scope, such as `memory` or `journal`. */
  readonly scope: string;
  /** Inside the scope: `editor.md`, `trash/…`. */
  readonly path: string;
  /** The bytes on the disk. A file that was edited by hand need not be UTF-8. */
  readonly content: Uint8Array;
  /** How far its text is trusted, if that is less than `unstated`. An import trusts the file no more than this. */
  readonly trust?: OriginClass | undefined;
}
