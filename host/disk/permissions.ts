import { fchmodSync, fchownSync, fstatSync } from "node:fs";

/** Who may use a file: owner, group and mode bits only, no access lists. */
export interface Permissions {
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/**
 * The mode bits of a file that replaces another one. If it could not get the same group, its group gets no more than
 * anybody had.
 */
function bitsLike({ mode, group }: Permissions, groupNow: number): number {
  const anybody = mode & 0o007;
  return group === groupNow ? mode & 0o777 : (mode & 0o707) | (mode & (anybody << 3));
}

/**
 * Gives a file another one's permissions. Only root can change the owner; other users can only share it with a group of
 * theirs.
 */
export function permit(descriptor: number, like: Permissions): void {
  const { uid } = fstatSync(descriptor);
  for (const owner of new Set([uid, like.owner])) giveTo(descriptor, owner, like.group);
  fchmodSync(descriptor, bitsLike(like, fstatSync(descriptor).gid));
}

function giveTo(descriptor: number, owner: number, group: number): void {
  const made = fstatSync(descriptor);
  if (made.uid === owner && made.gid === group) return;
  try {
    fchownSync(descriptor, owner, group);
  } catch {
    // The mode bits are then chosen for the group that the file has.
  }
}
