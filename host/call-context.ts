/** On whose behalf a call is made. The user comes from here and from nowhere else. */
export interface CallContext {
  /** The authenticated user: 1 to 128 bytes, no control characters, no slashes. */
  readonly userId: string;
}
