/** Limits of an entry, and of the index in a prompt. */
export const entryLimits = {
  nameCharsMax: 100,
  descriptionCharsMax: 300,
  bodyBytesMax: 65_536,
  entriesMax: 1_000,
  /** Lines of the index in a prompt; later lines are not shown. */
  indexLinesMax: 200,
  /** 25 KB, whole lines only. */
  indexBytesMax: 25_000,
} as const;
