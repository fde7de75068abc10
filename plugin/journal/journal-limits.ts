const kib = 1024;

/** What a journal and a call on it may hold. Beyond these stand the host's limits, which are those of every family. */
export const journalLimits = {
  /** Code points. A key is a heading: one line that people read. */
  keyCharsMax: 200,
  /** UTF-8 bytes. As the body of a user-memory entry: as JSON escapes it still fits an input and an answer. */
  contentBytesMax: 64 * kib,
  /** Tags of a block, and of a search. They stand in one line of the file. */
  tagsMax: 32,
  /** Code points. A tag is a word or two. */
  tagCharsMax: 100,
  /** Code points. Longer text is looked for by one of its words. */
  queryCharsMax: 1_000,
  /** Results of a search that names no limit, and the most: agentool's. */
  resultsDefault: 10,
  resultsMax: 100,
  /** Results as JSON. The 512 KiB that an answer may have, less what its message takes. */
  resultsBytesMax: 504 * kib,
  /** Files of a journal. Each is read by one of a call's 10,000 requests; one a day is 24 years. */
  filesMax: 9_000,
  /**
   * Blocks that a call parses: those that may be what it looks for. The dearest take 35 µs each, so that this many take a
   * third of a call's time. A search that fills its answer reads few of the older ones.
   */
  blocksReadMax: 100_000,
  /**
   * Blocks that a call cuts its files into. Passing one over takes at most 3 µs, so that this many take a quarter of a
   * call's time. A full journal of blocks of 200 bytes has 340,000; the smallest would be 16 million.
   */
  blocksCutMax: 800_000,
  /**
   * UTF-16 units. A larger block is found and can be replaced, but is not shown: as JSON it takes more than
   * `resultsBytesMax`, but for white space around it.
   */
  blockCharsMax: 504 * kib,
  /** UTF-16 units. A file of 2 MiB may hold 350,000 headings; cut at once, they would take more memory than there is. */
  portionChars: 64 * kib,
  /** Keys that a host is told of, the newest: as many as a user-memory has entries. */
  keysListedMax: 1_000,
  /** Code points of what such a list says of each. */
  descriptionCharsMax: 300,
  /** Of the summary, what enters a prompt. */
  indexLinesMax: 200,
  indexBytesMax: 25_000,
  /** Files and keys that a message names; those beyond are counted. */
  namedMax: 3,
} as const;
