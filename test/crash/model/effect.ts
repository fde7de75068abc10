/** What the store does to a disk, step by step, as a recording sees it. Files and folders go by number: names move. */

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
  /** All of it or nothing: one name, or a rename within one folder. */
  | { readonly kind: "names"; readonly changes: readonly NameChange[] }
  | { readonly kind: "write"; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly file: number; readonly bytes: number }
  /** Covers what had happened when it was asked for: effects before `upTo` in the disk's own count. */
  | { readonly kind: "flush"; readonly node: DiskNode; readonly upTo: number; readonly isOk: boolean }
  /** A person saves or removes a file, and the editor flushes it: no crash takes that back. */
  | { readonly kind: "person"; readonly path: readonly string[]; readonly content: Buffer | null };
