const mib = 1024 * 1024;

/** Limits of exports and imports. The limits of a scope and of a file apply too. */
export const transferLimits = {
  /**
   * What a zip file can hold that every program reads. It has 16 bits for a number of entries and 32 for a place, of which the highest
   * values mean the zip64 form.
   */
  zipEntriesMax: 2 ** 16 - 2,
  zipBytesMax: 2 ** 32 - 2,
  /** What an export tells of the trust of its files: up to 291 bytes of each that a zip file can have. Its label is smaller. */
  aboutBytesMax: 19 * mib,
  aboutDepthMax: 4,
  /** A file that is read as a whole: an export as JSON, or what another program keeps in one file. */
  wholeBytesMax: 186 * mib,
  /** Texts that move in, together. They are made into entries in memory. */
  textBytesMax: 128 * mib,
  /** Files of a folder that is no export. A person can mean a folder of notes, and name one that has everything. */
  foreignFilesMax: 60_000,
  /**
   * Names to try for a trashed file. All files of one name are compared with each other, so their number is limited.
   */
  trashNamesTriedMax: 64,
  /** Refusals that a plan names. The rest is counted. */
  refusalsShownMax: 100,
} as const;
