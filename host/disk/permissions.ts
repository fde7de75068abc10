/** Who may use a file, as the system keeps it. Beyond owner, group and bits (access lists, say) nothing is kept. */
export interface Permissions {
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/**
 * The bits of a file that takes another one's place, by the group that it could be given. Members of another group than
 * before get no more than anybody had.
 */
export function bitsLike({ mode, group }: Permissions, groupNow: number): number {
  const anybody = mode & 0o007;
  return group === groupNow ? mode & 0o777 : (mode & 0o707) | (mode & (anybody << 3));
}
