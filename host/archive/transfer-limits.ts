const mib = 1024 * 1024;

/**
 * Limits of exports and imports. The limits of a scope and of a file apply too. Every scope within its quota can be
 * exported and imported, at least alone.
 */
export const transferLimits = {
  /** An export is held in memory, because the user is held only while it is read. As much as two full scopes. */
  exportBytesMax: 128 * mib,
  /** As many as three full scopes have. A zip file that all programs can read cannot count to 65,536. */
  filesMax: 60_000,
  /**
   * The largest zip file of an export, uncompressed: 128 MiB for the files, up to 652 bytes for each name, and what is told
   * of their trust.
   */
  zipBytesMax: 186 * mib,
  /** What an export tells of the trust of its files: up to 291 bytes of each. Its label is smaller. */
  originsBytesMax: 17 * mib,
  aboutDepthMax: 4,
  /**
   * Names to try for a trashed file. All files of one name are compared with each other, so their number is limited.
   */
  trashNamesTriedMax: 64,
  /** Refusals that a plan names. The rest is counted. */
  refusalsShownMax: 100,
} as const;
