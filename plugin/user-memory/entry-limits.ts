/** Limits of an entry, and of the index in a prompt. */
export const entryLimits = {
  nameCharsMax: 100,
  /** A name that is made of a text: what a person reads at a glance. */
  nameOfTextCharsMax: 50,
  /** The path of a person's note, as the disk has it: 26 bytes fewer than a path's, which the trash adds, and a number. */
  notePathBytesMax: 225,
  descriptionCharsMax: 300,
  bodyBytesMax: 65_536,
  entriesMax: 1_000,
  queryCharsMax: 1_000,
  cursorCharsMax: 200,
  /** Entries in one answer of `SearchUserMemory`. */
  entriesPerPage: 20,
  /** A search shows no more than the best ones. */
  searchHitsMax: 40,
  /** Lines of the index in a prompt; later lines are not shown. */
  indexLinesMax: 200,
  /** 25 KB, whole lines only. */
  indexBytesMax: 25_000,
} as const;
