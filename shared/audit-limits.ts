const kib = 1024;
const mib = 1024 * kib;

/** Limits of the audit log and of the commands that read it. */
export const auditLimits = {
  /** The default size of one log file. It holds some 100,000 calls, and editors can still open it. */
  fileBytesMax: 64 * mib,
  /** The smallest size that can be configured. It holds some hundred calls; smaller files would only add file names. */
  fileBytesMin: 64 * kib,
  /**
   * How long a command waits for another runtime to close the log: another command does so in milliseconds, a server not
   * before it stops. A server waits longer: the one that it takes over from can be stopping.
   */
  openMs: 2_000,
  /** One record, as a line. The longest valid one names 60,000 files of 765 characters, in 52 MB. */
  recordBytesMax: 56 * mib,
  /** Files written, trashed or removed, in one record: as many as one import has. */
  recordFilesMax: 60_000,
  /** Files read, and listings, in one record; more are only counted. The largest repair reads 1,000. */
  recordUsesMax: 2_500,
  recordPluginsMax: 256,
  /** Names of tools, plugins, scopes and actions, and versions. The longest that a manifest can have is 64. */
  labelCharsMax: 64,
  /** A scope or path in a denied or failed request. Long enough to recognise, too short to leak an entry's body. */
  namedCharsMax: 128,
  /** The address that sent a refused request. An IPv6 address with zone and port has some 60. */
  peerCharsMax: 64,
  /** Refusals per minute that are logged one by one. A flood then takes 60 KB a minute and does not bury the calls. */
  refusalsShownPerMinute: 200,
  /** Refusals per minute that the operator's log shows one by one: one a second, as many as a person can follow. */
  refusalsLoggedPerMinute: 60,
  /** Kinds of the other refusals, each with its own counter. The host's servers have some 20 kinds. */
  refusalKindsMax: 64,
  /** Twelve digits, as in the log's file names: a thousand records a second for 31 years. */
  seqMax: 999_999_999_999,
  /** Notes that a verification lists: worth knowing, but not wrong. */
  notesMax: 100,
  /** What a summary lists: tools by name, the latest denied and failed uses, refusals, time spans, users. */
  toolsShownMax: 100,
  unfitUsesMax: 200,
  refusalsToldMax: 100,
  timelineBucketsMax: 96,
  usersCountedMax: 100_000,
  /** Of the counted users, those to notice. A table of more takes over ten printed sheets. */
  usersShownMax: 500,
  /** The latest calls one by one, and earlier ones that failed or were denied a capability. A page has 300 bytes of each. */
  callsShownMax: 4_000,
  faultyCallsShownMax: 1_000,
} as const;
