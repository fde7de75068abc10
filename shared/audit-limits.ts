const kib = 1024;
const mib = 1024 * kib;

/** The audit log, and those who read it. */
export const auditLimits = {
  /** A file of the log, when nothing else is said. Some 100,000 calls; an editor still opens it. */
  fileBytesMax: 64 * mib,
  /** The smallest that may be asked for. Some hundred calls: smaller files cost more in names than they hold. */
  fileBytesMin: 64 * kib,
  /** One record, as a line. The longest that can be right names 20,000 files of 255 characters, in 7 MB. */
  recordBytesMax: 8 * mib,
  /** Files that a record says were written, trashed, or removed: as many as a listing holds. */
  recordFilesMax: 20_000,
  /** Files that a record says were read, and listings: those beyond are counted. The largest repair reads 1,000. */
  recordUsesMax: 2_500,
  recordPluginsMax: 256,
  /** Names of tools, plugins, scopes and actions, versions: 64 is the longest that a manifest may give. */
  labelCharsMax: 64,
  /** What a guest named and was not given. Enough to recognise; too little to carry a body out. */
  namedCharsMax: 128,
  /** Where a refused request came from: an IPv6 address with a zone and a port has some 60. */
  peerCharsMax: 64,
  /**
   * Refusals of a minute that are written one by one. A flood of them then takes 60 KB of the log in a minute, and does
   * not bury the calls.
   */
  refusalsShownPerMinute: 200,
  /** Kinds of refusals beyond them that are counted apart; the host's servers know some 20. */
  refusalKindsMax: 64,
  /** Twelve digits, as in the names of the log's files: a thousand records in a second for 31 years. */
  seqMax: 999_999_999_999,
  /** What a verification lists; beyond it findings are counted. */
  findingsMax: 1_000,
  /** The same for what is worth knowing and no finding. */
  notesMax: 100,
  /** What a summary tells apart: tools by name, the latest denied and failed uses, spans of time, users. */
  toolsShownMax: 100,
  unfitUsesMax: 200,
  refusalsToldMax: 100,
  timelineBucketsMax: 96,
  usersCountedMax: 100_000,
} as const;
