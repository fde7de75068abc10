/** Names an open folder to the file system: by its descriptor where the system can, else by its path. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";

import { ToolError } from "../values/tool-error.ts";

export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface FolderHandle extends Disposable {
  readonly descriptor: number;
  readonly identity: string;
  /** Whether names are looked up in the open folder itself, not in whatever is at its path. */
  readonly isHeldOpen: boolean;
  /** The path of a checked name in this folder. */
  child(name: string): string;
  /** Opens a folder in this one, in the same way. Refuses a link. */
  openChild(name: string): FolderHandle;
  /** The path of a name that a listing of this folder has given: any name, as the bytes that the system has. */
  listed(name: Buffer): string | Buffer;
  /** As `openChild`, for such a name. */
  openListed(name: Buffer): FolderHandle;
  itself(): string;
  /** Throws if the opened file is not the one at its path. Does nothing where open flags ensure that. */
  checkOpened(path: string, opened: FileIdentity): void;
}

export const identityOf = ({ dev, ino }: FileIdentity): string => `${dev}:${ino}`;

/** The inode in an identity. Unlike the device's number, it stays the same when the machine starts again. */
export const inodeIn = (identity: string): string => identity.split(":").at(-1) ?? "";

/** The device in an identity: the same text means the same file system. */
export const diskIn = (identity: string): string => identity.slice(0, identity.indexOf(":"));

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY;
const descriptors = "/proc/self/fd";

/** By descriptor on Linux, where nobody can swap a folder in between; by path elsewhere. */
export type HandleKind = "descriptor" | "path";

export const handleKindHere: HandleKind = process.platform === "linux" ? "descriptor" : "path";

/**
 * Opens the folder that the operator has named. The operator may name a link. With `isExact`, no part of the path may
 * be a link.
 */
export function openRootFolder(path: string, kind: HandleKind, isExact = false): FolderHandle {
  const folder =
    kind === "descriptor"
      ? new DescriptorHandle(path, isExact ? constants.O_NOFOLLOW : 0)
      : new PathHandle(path, isExact ? undefined : statSync(path, { bigint: true }));
  try {
    // Asks where the open folder is, not what is at the path by now.
    const found =
      !isExact || (kind === "descriptor" ? readlinkSync(folder.itself()) : realpathSync.native(path)) === path;
    if (!found) throw notAFolder();
    return folder;
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

/** An open folder that another thread of this process can open, too, as long as it stays open. */
export interface HandedFolder {
  readonly descriptor: number;
  readonly identity: string;
}

/**
 * Opens a folder that another thread has handed over; `null` if that thread has closed it meanwhile. The system uses
 * closed descriptors again, perhaps for another user's folder, so the identity decides.
 */
export function openHandedFolder({ descriptor, identity }: HandedFolder): FolderHandle | null {
  let folder: FolderHandle;
  try {
    folder = new DescriptorHandle(`${descriptors}/${descriptor}`, 0);
  } catch {
    // Whatever the reason: the caller walks to the folder and reports what it meets.
    return null;
  }
  if (folder.identity === identity) return folder;
  folder[Symbol.dispose]();
  return null;
}

/** Throws unless `/proc` is the kernel's own: otherwise descriptors cannot be trusted. */
export function checkDescriptors(): void {
  const procMagic = 0x9fa0;
  const procRootInode = 1;
  try {
    if (statfsSync("/proc").type === procMagic && statSync("/proc").ino === procRootInode) return;
  } catch {
    // No /proc at all: the same answer.
  }
  throw new ToolError("STORAGE_UNSAFE", "Cannot open the data folder: /proc is not the kernel's process file system");
}

class DescriptorHandle implements FolderHandle {
  readonly isHeldOpen = true;
  #descriptor: number | null;
  #identity: string | null = null;

  constructor(path: string | Buffer, extraFlags: number) {
    this.#descriptor = openSync(path, folderFlags | extraFlags);
  }

  /** Read on first use, from the open folder: a walk needs it for few folders. */
  get identity(): string {
    this.#identity ??= identityOf(fstatSync(this.descriptor, { bigint: true }));
    return this.#identity;
  }

  get descriptor(): number {
    if (this.#descriptor === null) throw new RangeError("The folder is closed");
    return this.#descriptor;
  }

  child(name: string): string {
    return `${descriptors}/${this.descriptor}/${name}`;
  }

  openChild(name: string): FolderHandle {
    return new DescriptorHandle(this.child(name), constants.O_NOFOLLOW);
  }

  listed(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(this.child("")), name]);
  }

  openListed(name: Buffer): FolderHandle {
    return new DescriptorHandle(this.listed(name), constants.O_NOFOLLOW);
  }

  itself(): string {
    return `${descriptors}/${this.descriptor}`;
  }

  checkOpened(): void {
    // O_NOFOLLOW below an open folder ensures it.
  }

  [Symbol.dispose](): void {
    if (this.#descriptor === null) return;
    const descriptor = this.#descriptor;
    this.#descriptor = null;
    closeSync(descriptor);
  }
}

class PathHandle implements FolderHandle {
  readonly identity: string;
  readonly isHeldOpen = false;
  readonly #path: string;
  #descriptor: number | null = null;

  constructor(path: string, facts = lstatSync(path, { bigint: true })) {
    if (!facts.isDirectory()) throw notAFolder();
    this.#path = path;
    this.identity = identityOf(facts);
    if (process.platform !== "win32") this.#descriptor = openSync(path, folderFlags);
  }

  get descriptor(): number {
    if (this.#descriptor === null) throw new RangeError("The folder is closed");
    return this.#descriptor;
  }

  child(name: string): string {
    return join(this.itself(), name);
  }

  openChild(name: string): FolderHandle {
    return new PathHandle(this.child(name));
  }

  listed(name: Buffer): string {
    return this.child(name.toString());
  }

  openListed(name: Buffer): FolderHandle {
    return new PathHandle(this.listed(name));
  }

  itself(): string {
    // The root may be a link, so this follows links. Below the root, a link would have another identity than the
    // folder.
    if (identityOf(statSync(this.#path, { bigint: true })) !== this.identity) throw notAFolder();
    return this.#path;
  }

  checkOpened(path: string, opened: FileIdentity): void {
    if (identityOf(lstatSync(path, { bigint: true })) === identityOf(opened)) return;
    throw new ToolError("STORAGE_UNSAFE", "Cannot open a file: a link is in its place");
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

const notAFolder = (): ToolError =>
  new ToolError("STORAGE_UNSAFE", "Cannot open the user's folder: something else is in a folder's place");
