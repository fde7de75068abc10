const kib = 1024;

/** Limits of a run and of a call on it. The host's limits, which every family has, also apply. */
export const runLimits = {
  /** UTF-8 bytes of an agent's or a run's id. Longer than every workflow id, UUID or URL seen in practice. */
  idBytesMax: 256,
  /** UTF-8 bytes of an append's id. */
  appendIdBytesMax: 256,
  /** Events of one append. */
  eventsMax: 1_000,
  /** UTF-8 bytes of one event, as a line of its file. */
  eventBytesMax: 256 * kib,
  /** Levels of JSON that the library that keeps digits reads: from 400 on, it fills the stack of some hosts. */
  exactDepthMax: 300,
  /** A segment that has reached this size is closed, so an append never rewrites much more. */
  segmentBytes: 64 * kib,
  /**
   * Events of an answer as JSON: the 512 KiB of an answer, less room for the rest. Each event must fit alone, so this
   * bounds an event too: JSON in a JSON text takes up to twice the bytes.
   */
  pageBytesMax: 508 * kib,
  /** Append ids of one file on average. Each append with an id reads and writes one such file. */
  appendIdsPerFile: 400,
  /** Files of all runs, the trash excluded. The doctor reads each, which takes one of a call's 10,000 requests. */
  filesMax: 8_000,
  /** The number of a segment, or of a file of append ids. The host's 64 MiB hold a tenth as many. */
  fileNumberMax: 9_999,
  /** Runs whose facts one call of the doctor mends. It writes up to two files for each, and moves two to the trash. */
  runsMendedMax: 400,
  /** Runs of one answer of `ListRuns`. Each takes one of a call's 10,000 requests. */
  runsListedMax: 500,
  /** What a model gets: events, and characters of all their fields together. */
  shownDefault: 20,
  shownMax: 200,
  charsDefault: 8_000,
  charsMin: 500,
  charsMax: 60_000,
  /** Damaged lines of one file that the doctor names; the others are only counted. */
  damageNamedMax: 5,
} as const;
