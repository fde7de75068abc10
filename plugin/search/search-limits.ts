const kib = 1024;

/** What bounds a search and its index. */
export const searchLimits = {
  /** More words of a query make a search slower and hardly better. */
  termsMax: 32,
  hitsMax: 50,
  /** The characters of a snippet, without the marks of a cut. */
  snippetChars: 160,
  /**
   * What one search reads outside the indexes: the bytes of the entries, and for each of them what a request costs.
   * 1,000 entries of 4 KB: a second in English, several in Chinese, if all of them have a word of the query.
   */
  readCostMax: 8 * 1024 * kib,
  readCostPerFile: 4 * kib,
  /** How many times as fast as JavaScript the engine finds a file's words, if it can. */
  engineSpeed: 10,
  /**
   * What one search reads of the indexes, by the same cost: those of 8,000 entries of 4 KB. Each word of the query goes
   * through all of it once: a third of a second for one word, two seconds for 32.
   */
  indexCostMax: 19 * 1024 * kib,
  /** The files of entries of which one search knows at the same time. All together must fit into the guest's memory. */
  heldFilesMax: 20_000,
  /** Beyond so many listed files of any kind, no further store is listed. */
  listedFilesMax: 100_000,
  /**
   * The size of an index file that the writes aim at: the words of some 12 entries of 4 KB. A search reads all files of
   * the index, a write one or two.
   */
  indexFileBytes: 16 * kib,
  /** All of an index file but rows without words, so that it never has more than the 2 MiB of a file. */
  postingUnitsMax: 500_000,
  /** What one write reads of the entries that people edited, to index them again, by the same cost. At least one. */
  refreshCostMax: 64 * kib,
  /** The same for upkeep: 500 entries of 4 KB. */
  upkeepCostMax: 4 * 1024 * kib,
  /** Upkeep is advised if a search of one store reads more than this outside its index, by the same cost. */
  unindexedCostMax: 1024 * kib,
} as const;
