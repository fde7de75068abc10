/** Limits of a store's entries. The host limits the store as a whole to 64 MiB and 100 grants. */
export const entryLimits = {
  /** Live entries of a store that models see, of everybody who writes there. As many again that only programs see. */
  entriesMax: 1_000,
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
