const kib = 1024;

/** Bounds of a user's WAL. */
export const walLimits = {
  /** It grows by this much at a time, filled with zeros. */
  stepBytes: 64 * kib,
  /**
   * Beyond any of these, each file that was touched is flushed and the records are dropped: the longer it is put off, the
   * fewer flushes a call pays for. What bounds it is the time that another process takes to read it all, 8 ms for a MiB,
   * and how long the user's next call may wait while that many files are flushed.
   */
  retireBytes: 4096 * kib,
  retireRecords: 512,
  retireFiles: 128,
  /** A larger file is none of ours, and none is written. */
  walBytesMax: 512 * kib * kib,
} as const;
