const kib = 1024;

/** Bounds of a user's journal. */
export const journalLimits = {
  /** It grows by this much at a time, filled with zeros. */
  stepBytes: 64 * kib,
  /** Beyond either, the files are flushed and the records dropped. */
  retireBytes: 256 * kib,
  retireRecords: 64,
  /**
   * What the files of one change set may hold together: a scope's quota and some more. Written as JSON, in which a byte
   * takes up to six, it stays within what an engine allows a string.
   */
  contentBytesMax: 80 * kib * kib,
  /** A larger file is none of ours, and none is written. */
  journalBytesMax: 512 * kib * kib,
} as const;
