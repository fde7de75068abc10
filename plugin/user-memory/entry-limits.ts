/** What an entry of this family may hold, and how much of the index a prompt gets. */
export const entryLimits = {
  nameCharsMax: 100,
  descriptionCharsMax: 300,
  bodyBytesMax: 65_536,
  entriesMax: 1_000,
  /** The part of the index that enters a prompt: lines after the 200th are not shown. */
  indexLinesMax: 200,
  /** 25 KB, whole lines only. */
  indexBytesMax: 25_000,
} as const;
