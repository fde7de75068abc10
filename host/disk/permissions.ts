import { fchmodSync, fchownSync, fstatSync } from "node:fs";
import type { Stats } from "node:fs";

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
