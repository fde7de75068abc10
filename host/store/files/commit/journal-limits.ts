const kib = 1024;

/** Bounds of a user's journal. */
export const journalLimits = {
  /** It grows by this much at a time, filled with zeros. */
  stepBytes: 64 * kib,
  /** Beyond either, the files are flushed and the records dropped. */
  retireBytes: 256 * kib,
  retireRecords: 64,
  /** A larger file is none of ours: 2,000 files of 2 MiB cannot be in one change set, a full scope in JSON can. */
  journalBytesMax: 512 * kib * kib,
} as const;
