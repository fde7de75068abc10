/** A request that the host refused before any tool was called, for the audit log. */
export interface Refusal {
  /** Where the request arrived, such as `http` or `mcp`. Lower-case letters, digits and dashes, at most 64. */
  readonly surface: string;
  /** Why it was refused, such as `token-expired` or `method-unknown`. The same form as `surface`. */
  readonly reason: string;
  /** The user, if the identity had already been verified. */
  readonly userId?: string | undefined;
  /** The address of the client. At most 64 printable ASCII characters. */
  readonly peer?: string | undefined;
}

/** The form of `surface` and `reason`. */
export const refusalWordPattern: RegExp = /^[a-z0-9-]{1,64}$/;

/** The form of `peer`. */
export const peerPattern: RegExp = /^[\x20-\x7e]{1,64}$/;
