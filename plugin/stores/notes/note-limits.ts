/** Limits of notes. They are entries, so the limits of entries hold as well. */
export const noteLimits = {
  descriptionCharsMax: 200,
  /** Notes in one answer. */
  listedMax: 1_000,
  listedDefault: 50,
  foundMax: 50,
  foundDefault: 10,
  /** What an answer shows of contents for which it has no more room. */
  beginningCharsMax: 200,
  /** The notes of one answer, as JSON. An answer has at most 512 KiB. Notes beyond it are left out. */
  answerBytesMax: 458_752,
  /** A content as JSON. The rest of a note takes at most 4 KiB. */
  contentJsonBytesMax: 454_656,
  /** Marks of forgotten notes in a store, which count among its entries. */
  marksMax: 200,
  /** Changes in one page of a pull. */
  pageLinesMax: 500,
  /** For how long other machines can learn that a note was forgotten. */
  forgottenMs: 90 * 24 * 3_600_000,
  /**
   * Changes that were made within this time before a pull come again with the next one. Within a tick of the clock that
   * stamps files, 4 ms on some systems, the order of changes is unknown.
   */
  settledUs: 2_000_000,
} as const;
