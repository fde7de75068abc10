/** Something that was asked of the host and was refused before any tool was called: for the audit log. */
export interface Refusal {
  /** Where it was asked, such as `http` or `mcp`. Lower-case letters, digits and dashes, at most 64. */
  readonly surface: string;
  /** Why, such as `token-expired` or `session-unknown`. The same form. */
  readonly reason: string;
  /** The user whose identity had been verified. Default: nobody's had. */
  readonly userId?: string | undefined;
  /** The address it came from. At most 64 printable ASCII characters. */
  readonly peer?: string | undefined;
}

/** The form of `surface` and `reason`. */
export const refusalWordPattern: RegExp = /^[a-z0-9-]{1,64}$/;

/** The form of `peer`. */
export const peerPattern: RegExp = /^[\x20-\x7e]{1,64}$/;
