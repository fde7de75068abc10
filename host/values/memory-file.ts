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

/** What an export tells of a file beside its content. */
export interface ExportedFile extends Omit<MemoryFile, "content"> {
  readonly bytes: number;
  /** SHA-256 of its content, in hexadecimal. */
  readonly sha256: string;
}

/** A file to import whose content is not in memory. */
export interface UnreadFile extends Omit<MemoryFile, "content"> {
  readonly bytes: number;
  /** Its content. Called when its scope is planned, and again when it is imported. */
  readonly read: () => Promise<Uint8Array>;
}

export type ImportedFile = MemoryFile | UnreadFile;

/** A file of another program, to be moved in. */
export interface ForeignFile {
  /** Inside the folder that moves in, with `/` between its names. That of a folder ends in `/`, and is not read. */
  readonly path: string;
  /** Its bytes. Called only for a file that can have memories, perhaps more than once. A `ToolError` says why it is left. */
  readonly read: () => Promise<Uint8Array>;
}
