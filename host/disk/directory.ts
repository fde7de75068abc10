/**
 * What the store needs of a disk: folders that are held open, and one name at a time below them.
 *
 * There are no paths here. A name is one component, so nothing can climb, and a folder that is held open stays the same
 * folder whatever becomes of its path. Everything waits for the disk and returns, except flushes.
 */

import type { Permissions } from "./permissions.ts";

/** A folder that is held open. Dispose of it when the work is done; afterwards every use throws. */
export interface Directory extends Disposable {
  /** Tells folders apart: the same text means the same folder. */
  readonly identity: string;

  /** A folder in this one, or `null` when there is none. Anything else of that name is `STORAGE_UNSAFE`. */
  openFolder(name: string): Directory | null;

  /** What lies under a name, told as folders tell their own `identity`; `null` when nothing does. Follows no link. */
  identityOf(name: string): string | null;

  /** As `openFolder`, after making it when there is none. */
  makeFolder(name: string): Directory;

  /** What is in this folder, in no order. */
  entries(): DirectoryEntry[];

  /** The bytes of a file, or `null` when there is none. Anything but a plain file is `STORAGE_UNSAFE`. */
  sizeOf(name: string, shown: string): number | null;

  /** Measures something, whatever it is; `null` when it has gone. */
  measure(name: string): Measured | null;

  /** A file's content, or `null` when there is none. `shown` is how messages name it. */
  read(name: string, shown: string): Buffer | null;

  /** Writes a file that must not exist yet: for the host's user alone, unless it is to be used as another one was. */
  create(name: string, content: Uint8Array, shown: string, like?: Permissions | null): void;

  /** Who may use the file under a name; `null` when there is none. Follows no link: anybody may use one. */
  permissionsOf(name: string): Permissions | null;

  /** Opens a file for more than one use; `null` when there is none and none is to be made. */
  openFile(name: string, shown: string, use: FileUse): DiskFile | null;

  /** Moves a file, over another one of the new name if there is one. */
  rename(name: string, to: Directory, newName: string): void;

  /**
   * Has two files take each other's names at one stroke: the other one must be there. `false` when nothing was done: not
   * every system and disk can.
   */
  exchange(name: string, other: Directory, otherName: string): boolean;

  /** Removes a file or a link, never what a link points to. */
  remove(name: string): void;

  /** Makes durable which names this folder holds. */
  flush(): Promise<void>;
}

/**
 * What a file is opened for. To `make` is to write, after making it when there is none. To `flush` does nothing but that,
 * and so it minds neither how many names the file has nor how large it is.
 */
export type FileUse = "read" | "write" | "make" | "flush";

export interface Measured {
  readonly bytes: number;
  /** Whether `sizeOf` and `read` would not refuse it. */
  readonly isPlain: boolean;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
}

/** A plain file that is held open. */
export interface DiskFile extends Disposable {
  readonly identity: string;
  /** For locks only. */
  readonly descriptor: number;
  /** As this opening of the file has found and left it: others are kept out meanwhile. */
  size(): number;
  /** Up to `length` bytes from `at`; fewer at the end of the file. */
  read(at: number, length: number): Buffer;
  write(at: number, bytes: Uint8Array): void;
  truncate(bytes: number): void;
  /** Makes the content durable, and what is needed to find it. Someone may be waiting for just that. */
  flush(isWaitedFor?: boolean): Promise<void>;
}
