/** Of writes that wait for the owner of the memory. */
export const pendingLimits = {
  /** How many of one user wait. */
  writesMax: 100,
  /** How many of one run wait; calls that name no run count as one. */
  writesPerRunMax: 20,
  /** What one of them writes, in bytes. */
  contentBytesMax: 1_048_576,
  /**
   * The records of all of one user's, in bytes on the disk. A list of them is read as a whole, and takes twice as much
   * memory. 100 writes of an entry to a memory of 1,000 take as much, each with the index.
   */
  bytesMax: 16 * 1_048_576,
  /** Those of one run: as many runs as can fill the places can fill the bytes. */
  bytesPerRunMax: 4 * 1_048_576,
  /** After so many days they are dropped. */
  days: 30,
} as const;
