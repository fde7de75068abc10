/** Of writes that wait for the owner of the memory. */
export const pendingLimits = {
  /** How many of one user wait. */
  writesMax: 100,
  /** How many of one run wait; calls that name no run count as one. */
  writesPerRunMax: 20,
  /** What one of them writes, in bytes. */
  contentBytesMax: 1_048_576,
  /** After so many days they are dropped. */
  days: 30,
} as const;
