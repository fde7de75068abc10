/**
 * What the store needs from a disk: folders that are held open, and one name at a time below them.
 *
 * There are no paths here. A name is one path component, so it cannot leave its folder. In a scope it is as paths have it,
 * percent-encoded where it has to be (`shared/encoded-name.ts`). A folder that is held open stays the same, whatever
 * becomes of its path. Everything is synchronous, except flushes.
 */

import type { EndSignal } from "../values/turns.ts";
import type { HandedFolder, Permissions } from "./folder-handle.ts";

/** A folder that is held open. Dispose of it when the work is done; afterwards every use throws. */
export interface Directory extends Disposable {
  /** The same text means the same folder. */
  readonly identity: string;

  /** When a name in this folder was last added, changed or removed, by the file system's clock. */
  readonly namesChangedUs: number;

  /** For another thread to open it with `openHanded`; `null` where a system has no such way. */
  readonly handed: HandedFolder | null;

  /** The same text means the same file system. */
  readonly disk: string;

  /** Who may use this folder. */
  readonly permissions: Permissions;

  /** A folder in this one, or `null` if there is none. Throws `STORAGE_UNSAFE` for anything else with that name. */
  openFolder(name: string): Directory | null;

  /** The `identity` of anything with this name; `null` if there is nothing. Follows no link. */
  identityOf(name: string): string | null;

  /**
   * As `openFolder`, but makes the folder if there is none. By default only its owner can use it; `like` gives it other
   * permissions.
   */
  makeFolder(name: string, like?: Permissions | null): Directory;

  /** What is in this folder, in no order. In a scope, a name that no path has is as the disk has it. */
  entries(): DirectoryEntry[];

  /** A file's size in bytes, or `null` if there is none. Throws `STORAGE_UNSAFE` for anything but a plain file. */
  sizeOf(name: string, shown: string): number | null;

  /** Measures anything with this name; `null` if there is nothing. */
  measure(name: string): Measured | null;

  /** A file's content, or `null` when there is none. `shown` is how messages name it. */
  read(name: string, shown: string): Buffer | null;

  /** As `read`, with what the file's times showed before. */
  readStamped(name: string, shown: string): StampedFile | null;

  /** What the times of a plain file show; `null` if there is none, or if they could show no change. */
  stampOf(name: string): FileStamp | null;

  /**
   * Writes a file that must not exist yet. By default only its owner can use it, which is the host's user, or the
   * folder's owner if root runs the host; `like` gives it other permissions.
   */
  create(name: string, content: Uint8Array, shown: string, like?: Permissions | null): void;

  /** The permissions of the file with this name; `null` if there is none. Follows no link. */
  permissionsOf(name: string): Permissions | null;

  /** Opens a file and holds it open; `null` if there is none and `use` does not make it. */
  openFile(name: string, shown: string, use: FileUse): DiskFile | null;

  /** Moves a file, and replaces a file that has the new name. */
  rename(name: string, to: Directory, newName: string): void;

  /**
   * Gives a file or folder that `entries` shows with a name that no path has the name of a path. `false` if something has
   * that name, or if it is anything else, such as a link. Replaces nothing.
   */
  giveName(listed: string, name: string): boolean;

  /** Exchanges two existing files in one step. `false` if nothing was done: not every system and disk can do it. */
  exchange(name: string, other: Directory, otherName: string): boolean;

  /** Removes a file or a link, never what a link points to. */
  remove(name: string): void;

  /** Removes a folder if it is empty. Does nothing if it is not, or is gone. */
  removeFolder(name: string): void;

  /** Counts what is in this folder with everything below it, by the first name. Accepts any name, and follows no link. */
  measureTree(): Promise<MeasuredTree[]>;

  /**
   * Removes everything in this folder, whatever it is and is called. Follows no link. Returns what is left. Throws the
   * signal's reason when it is aborted.
   */
  removeTree(signal?: EndSignal): Promise<LeftEntry[]>;

  /** Makes the names in this folder durable. */
  flush(): Promise<void>;

  /** The same, at the end of the process. */
  flushNow(): void;
}

/**
 * What a file is opened for. `make` is `write`, but makes the file if there is none. `flush` only flushes, and `lock` only
 * locks, so they accept any size and any number of names.
 */
export type FileUse = "read" | "write" | "make" | "flush" | "lock";

export interface Measured {
  readonly bytes: number;
  /** How many names it has on the disk: more than one if it has hard links. */
  readonly names: number;
  /** Whether `sizeOf` and `read` accept it. */
  readonly isPlain: boolean;
  /** When the file was last changed or renamed, by the file system's clock. No program can set it. */
  readonly changedUs: number;
  /** When its content was last written. A copy that keeps times has the original's. */
  readonly writtenUs: number;
}

/** What a file's times show. */
export interface FileStamp {
  /** The same text means the same file with the same content. */
  readonly text: string;
  readonly bytes: number;
}

export interface StampedFile {
  readonly content: Buffer;
  readonly stamp: FileStamp | null;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
}

/** What is below one name of a folder. */
export interface MeasuredTree extends DirectoryEntry {
  /** Everything but folders. */
  readonly files: number;
  /** Of regular files. */
  readonly bytes: number;
  /** Folders that cannot be opened, so that what is in them is not counted. */
  readonly closed: readonly LeftEntry[];
}

/** Something in a folder that could not be opened or removed. */
export interface LeftEntry {
  /** From the folder on. Can contain any character. */
  readonly path: string;
  /** Why, as a clause about "it". */
  readonly reason: string;
}

/** A plain file that is held open. */
export interface DiskFile extends Disposable {
  readonly identity: string;
  /** For locks only. */
  readonly descriptor: number;
  /** The size when opened, updated by this object's own writes: nobody else writes meanwhile. */
  size(): number;
  /** Up to `length` bytes from `at`; fewer at the end of the file. */
  read(at: number, length: number): Buffer;
  write(at: number, bytes: Uint8Array): void;
  truncate(bytes: number): void;
  /** Sets when the content was last written, to the microsecond. */
  setWritten(writtenUs: number): void;
  /** Makes the content durable, and what is needed to find it. `isWaitedFor`: a call waits for this flush. */
  flush(isWaitedFor?: boolean): Promise<void>;
  /** The same, at the end of the process. */
  flushNow(): void;
}
