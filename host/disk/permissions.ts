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
export function bitsLike({ mode, group }: Permissions, groupNow: number): number {
  const anybody = mode & 0o007;
  return group === groupNow ? mode & 0o777 : (mode & 0o707) | (mode & (anybody << 3));
}
