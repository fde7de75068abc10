/** Limits of a store's entries. The host limits the store as a whole to 64 MiB and 100 grants. */
export const entryLimits = {
  /** Live entries of a store that models see, of everybody who writes there. As many again that only programs see. */
  entriesMax: 1_000,
  /** Items of programs (`StoreBatch`), of all namespaces: half of the files that a store can have. */
  itemsMax: 10_000,
  /** Of a batch: as many writes and moves as one call makes, twice over. */
  operationsMax: 500,
  labelsMax: 16,
  labelCharsMax: 200,
  itemKeyCharsMax: 500,
  /** Files of items that the queries of one batch look into: half a second. A call makes 10,000 requests at most. */
  itemsSearchedMax: 6_000,
  /** Files and namespaces that the operations of one batch go through, apart from reading any. About a second. */
  itemsListedMax: 250_000,
  /** Files of items that the doctor reads: about a second. */
  itemsInspectedMax: 4_000,
  /** What the other searches of one batch read: the bytes of the files, and 4 KiB for each. Half a second. */
  itemReadCostMax: 8 * 1024 * 1024,
  /** The items in an answer, as JSON. */
  itemBytesMax: 480_000,
  keyCharsMax: 200,
  namespaceCharsMax: 64,
  /** A value, in UTF-8; of a value that is no text, its JSON. */
  valueBytesMax: 102_400,
  /** 100 years, in seconds. */
  ttlSecondsMax: 3_155_760_000,
  searchHitsMax: 50,
  /** The values in the answer of one search or view, together. Hits beyond it have their snippet alone. */
  shownValueBytesMax: 262_144,
  queryCharsMax: 1_000,
  indexLinesMax: 200,
  /** What the index for a prompt reads: the bytes of the entries, and 4 KiB for each. About two seconds. */
  indexReadCostMax: 48 * 1024 * 1024,
  indexBytesMax: 25_000,
} as const;
