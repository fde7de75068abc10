const kib = 1024;

/** Limits of a journal and of a call on it. The host's limits, which every family has, also apply. */
export const journalLimits = {
  /** Code points. A key is a heading: one line that people read. */
  keyCharsMax: 200,
  /** UTF-8 bytes, as for a user-memory entry's body. Even if JSON escapes it, it fits into an input and an answer. */
  contentBytesMax: 64 * kib,
  /** Tags of a block, and of a search. They are in one line of the file. */
  tagsMax: 32,
  /** Code points. A tag is a word or two. */
  tagCharsMax: 100,
  /** Code points. To find a longer text, search for a part of it. */
  queryCharsMax: 1_000,
  /** Results of a search without a limit, and the highest limit, as in agentool. */
  resultsDefault: 10,
  resultsMax: 100,
  /** Results as JSON: the 512 KiB of an answer, less room for its message. */
  resultsBytesMax: 504 * kib,
  /** Files of a journal. Reading one takes one of a call's 10,000 requests. One file a day lasts 24 years. */
  filesMax: 9_000,
  /**
   * Blocks that a call parses, because they can be what it looks for. The slowest take 35 µs each, so this many take a
   * third of a call's time. A search that fills its answer parses few of the older blocks.
   */
  blocksReadMax: 100_000,
  /**
   * Blocks that a call cuts its files into. Skipping one takes at most 3 µs, so this many take a quarter of a call's
   * time. A full journal has 340,000 blocks of 200 bytes, or 16 million of the smallest.
   */
  blocksCutMax: 800_000,
  /**
   * UTF-16 units. A larger block can be found and replaced, but is not shown: as JSON it takes more than
   * `resultsBytesMax`, unless it has white space at its ends.
   */
  blockCharsMax: 504 * kib,
  /** UTF-16 units. A file of 2 MiB can have 350,000 headings; cut at once, the blocks would not fit into memory. */
  portionChars: 64 * kib,
  /** Keys in a list for the host, the newest; as many as a user-memory has entries. */
  keysListedMax: 1_000,
  /** Code points of each description in such a list. */
  descriptionCharsMax: 300,
  /** The part of the summary that enters a prompt. */
  indexLinesMax: 200,
  indexBytesMax: 25_000,
  /** Files that a message names; the others are only counted. */
  namedMax: 3,
} as const;
