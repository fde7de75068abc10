/** The store's effects on a disk, in order. Files and folders are identified by numbers, because names can move. */

export interface DiskNode {
  readonly kind: "file" | "folder";
  readonly id: number;
}

/** A folder gets, changes or loses a name. */
export interface NameChange {
  readonly folder: number;
  readonly name: string;
  readonly node: DiskNode | null;
}

export type Effect =
  /** Survives a crash as a whole or not at all: one name, or a rename within one folder. */
  | { readonly kind: "names"; readonly changes: readonly NameChange[] }
  | { readonly kind: "write"; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly file: number; readonly bytes: number }
  /** Covers the effects before its request: those before `upTo` in the disk's own count. */
  | { readonly kind: "flush"; readonly node: DiskNode; readonly upTo: number; readonly isOk: boolean }
  /** A person saves or removes a file, and the editor flushes it: it survives every crash. */
  | {
      readonly kind: "person";
      readonly path: readonly string[];
      readonly content: Buffer | null;
      /** The file keeps the time of an old original, as from `cp -a` or `mv`. */
      readonly isOld: boolean;
    };
