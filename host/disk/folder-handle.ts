/**
 * Names an open folder, and what is in it, to the file system: by its descriptor where the system can, else by its path.
 * Makes folders in it, and says who may use what is made.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  statfsSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { join } from "node:path";

import { ToolError } from "../values/tool-error.ts";
import { systemCode } from "./disk-failure.ts";

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

/**
 * One path component: not empty, only ASCII, no separator of any system, no NUL. A slash at the end would disable the
 * refusal of links; an empty name would be the folder itself.
 */
const component = /^[A-Za-z0-9._@%~-]{1,255}$/;

/** The last check before the disk, for names that the grammars above it should have refused. */
export function checkComponent(name: string): string {
  if (component.test(name) && name !== "." && name !== "..") return name;
  throw new ToolError("CAPABILITY_DENIED", "Cannot use a name that is not one component of a path");
}

/**
 * Makes a folder in an open one, unless something has this name: another process can be making it, too. By default only
 * its owner can use it.
 */
export function makeFolderIn(above: FolderHandle, name: string, like: Permissions | null = null): void {
  try {
    mkdirSync(above.child(name), { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    throw error;
  }
  if (process.platform === "win32") return;
  using made = above.openChild(name);
  // If somebody has put another folder in its place meanwhile, nothing in that one changes hands.
  if (readdirSync(made.itself()).length > 0) return;
  if (like === null) giveToOwnerOf(above, made);
  else permit(made.descriptor, like);
}

/** Who may use a file or folder: owner, group and mode bits only, no access lists. */
export interface Permissions {
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

export const permissionsFrom = ({ mode, uid, gid }: Stats): Permissions => ({ mode, owner: uid, group: gid });

/**
 * What a new file in a person's folder gets: the folder's owner and group, and for the group what the owner has, if it may
 * write in the folder. Others get nothing, whatever they may do in the folder: what is stored is private.
 */
export const forNewFileIn = (folder: Permissions): Permissions => ({
  ...folder,
  mode: isShared(folder) ? 0o660 : 0o600,
});

/** The same for a new folder. */
export const forNewFolderIn = (above: Permissions): Permissions => ({
  ...above,
  mode: isShared(above) ? 0o770 : 0o700,
});

const isShared = ({ mode }: Permissions): boolean => (mode & 0o020) !== 0;

/**
 * The mode bits of a file that replaces another one. If it could not get the same group, its group gets no more than
 * anybody had.
 */
function bitsLike({ mode, group }: Permissions, groupNow: number): number {
  const anybody = mode & 0o007;
  return group === groupNow ? mode & 0o777 : (mode & 0o707) | (mode & (anybody << 3));
}

/**
 * Gives something that this process has just made the permissions of something else. Only root can change the owner;
 * other users can only share it with a group of theirs.
 */
export function permit(descriptor: number, like: Permissions): void {
  let made = fstatSync(descriptor);
  for (const owner of new Set([made.uid, like.owner])) {
    if (giveTo(descriptor, made, { owner, group: like.group })) made = fstatSync(descriptor);
  }
  const { gid, mode } = made;
  // A folder has the bit from the one above: what is made in it gets its group.
  const groupBit = made.isDirectory() ? mode & 0o2000 : 0;
  const bits = bitsLike(like, gid) | groupBit;
  if (bits !== (mode & 0o7777)) fchmodSync(descriptor, bits);
}

/**
 * Gives what root has just made to the owner of the folder that it is in. Otherwise one command that an operator runs as
 * root would keep out the host that runs as that owner.
 */
export function giveToOwnerOf(folder: Opened, made: Opened): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fstatSync(folder.descriptor);
  giveTo(made.descriptor, fstatSync(made.descriptor), { owner: uid, group: gid });
}

interface Opened {
  readonly descriptor: number;
}

/** Returns whether it has changed something: with the owner, the mode can change too. */
function giveTo(
  descriptor: number,
  { uid, gid }: Stats,
  { owner, group }: Pick<Permissions, "owner" | "group">,
): boolean {
  if (uid === owner && gid === group) return false;
  try {
    fchownSync(descriptor, owner, group);
    return true;
  } catch {
    // The mode bits are then chosen for the group that the file has.
    return false;
  }
}
