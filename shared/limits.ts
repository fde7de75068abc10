/**
 * Every number that bounds something, with its unit in the name and its reason beside it.
 * A limit is never optional and never zero.
 */
export { auditLimits } from "./audit-limits.ts";
export { pendingLimits } from "./pending-limits.ts";
export { roleLimits } from "./role-limits.ts";
export { threadLimits } from "./thread-limits.ts";

const kib = 1024;
const mib = 1024 * kib;

/** Limits of one call. */
export const callLimits = {
  /** The caller's name for a call. Longer than every id of a model's tool call, a trace or a UUID. */
  callIdCharsMax: 128,
  /** Labels that the caller can have recorded with the call. All together take at most 5 KB of a record. */
  labelsMax: 16,
  labelNameCharsMax: 64,
  /** Holds a URL, a model's name, a span's id. */
  labelValueCharsMax: 256,
  /** A 65,536-byte body as JSON escapes takes six bytes for each byte. The rest of the input is small. */
  inputBytesMax: 512 * kib,
  /** As for the input: the largest answer is one escaped body. */
  outputBytesMax: 512 * kib,
  /** What an answer shows, beside the answer: see `showsConfigKey`. To count the bytes of both would be a scan of the answer. */
  showsBytesMax: 64 * kib,
  /** Nested arrays and objects. Deeper values overflow the stack of code that copies or prints them. */
  outputDepthMax: 64,
  /**
   * All Extism blocks of a call that are not freed: requests, replies, the answer. They lie outside the guest's memory.
   * The largest reply is a file of 2 MiB in which every byte becomes an escape of six bytes.
   */
  blockBytesMax: 64 * mib,
  /** Blocks of a call, freed ones included. The JavaScript SDK cannot address more than 32,767 and never reuses one. */
  blocksMax: 32_000,
  /**
   * Capability requests of one call. The largest repair makes five requests for each of 1,000 entries. Each request
   * takes two blocks.
   */
  hostCallsMax: 10_000,
  /**
   * Bytes that one call writes in all its scopes. They are kept in memory, copied to the main thread, and written to
   * the journal. As much as one scope can hold: the largest repair writes every entry again.
   */
  stagedBytesMax: 64 * mib,
  /** One capability request: a file's content, escaped, and its path. */
  requestBytesMax: 8 * mib,
  /** Log lines of one call. */
  logLinesMax: 200,
  logLineCharsMax: 2000,
  /** Causes of failures that one call can add to the operator's log. */
  causesMax: 20,
} as const;

/** Calls that wait. */
export const queueLimits = {
  /** A thread serves some 1,000 calls a second. A caller that would wait longer should retry later. */
  callsMax: 1024,
  /** More calls than an agent makes at once. One user can take at most an eighth of the places. */
  callsPerUserMax: 128,
  /** All inputs of waiting calls: 128 of the largest. */
  bytesMax: 64 * mib,
  /** The total time that a call waits for its user's turn, the user's lock, and a thread. */
  waitMs: 30_000,
  /** Users locked at the same time. Each takes up to ten file descriptors; some systems give a process only 1,024. */
  usersHeldMax: 64,
} as const;

/** The trail of a call's capability uses, in memory that the worker thread and the main thread share. */
export const trailLimits = {
  /**
   * Successful uses: each path once for each kind of use. The largest repair reads, moves and writes each of 1,000
   * entries. With the longest names that takes 480 KB.
   */
  usesBytes: 512 * kib,
  /** Denied and failed uses. They have their own space, which successful uses cannot fill. */
  refusalsMax: 100,
  /** The longest of them: a scope and a path of 128 characters each, each character as an escape of six bytes. */
  refusalBytes: 1_640,
} as const;

/** The OpenTelemetry span of a call. */
export const spanLimits = {
  /** Paths in one attribute. A tracer copies and exports all of them; the audit log has the rest. */
  pathsMax: 100,
} as const;

/** `close()` of a runtime. */
export const closingLimits = {
  /** How long admitted calls can go on: as long as the deadline of a call that has just begun. */
  graceMs: 10_000,
} as const;

/** Limits of a user's folder. */
export const storeLimits = {
  /** UTF-8 bytes, before encoding. Enough for every UUID, e-mail address and subject claim seen in practice. */
  userIdBytesMax: 128,
  /** Most file systems allow 255 bytes in a name; 64 of them stay free for the store's own suffixes. */
  folderNameBytesMax: 191,
  /**
   * The names of a path on a disk, in UTF-8, with the slashes between them. Most file systems allow as much in one name. The
   * longest that a tool gives itself is `trash/`, a 100-character name, a stamp and `.md`.
   */
  pathBytesMax: 255,
  /** The same path, percent-encoded. */
  pathCharsMax: 765,
  /** An index of 1,000 entries with the longest names and descriptions takes 1.4 MB. */
  fileBytesMax: 2 * mib,
  /** All files of a user's scope, trash included. */
  scopeBytesMax: 64 * mib,
  /** Files of a scope outside its trash, and in one listing. */
  listEntriesMax: 20_000,
  /** A tool that trashes an entry every minute, day and night, takes two weeks. */
  trashFilesMax: 20_000,
  /** Writes and moves of one call. The largest repair moves and writes each of 1,000 entries, and the index. */
  changesMax: 2_500,
} as const;

/** Limits of shared stores. */
export const sharingLimits = {
  /** Grants of one store. A store for more people than this is a chat, for which the embedding program vouches. */
  grantsMax: 100,
  /**
   * Stores that one call can reach. A search holds none of them while it runs, but the host reads the grants of each,
   * in 0.1 ms.
   */
  storesMax: 256,
  /** How often the guest of one call runs to say which stores it needs. A rename between two shared stores takes three. */
  runsMax: 16,
} as const;

/** Limits of one plugin instance. */
export const guestLimits = {
  /**
   * Wasm pages of 64 KiB: 32 MiB. The highest use measured is 13.4 MiB, to rebuild an index of 1,000 entries of the
   * longest kind from facts of the largest kind.
   */
  memoryPagesMax: 512,
  /** Polls of the engine's interrupt check: one for about 5,000 loop iterations. */
  fuelPollsMax: 20_000,
  /** From the start in a worker to the answer. */
  deadlineMs: 10_000,
  /** The engine's own stack. Beyond it the guest gets a RangeError, which it can catch. */
  stackBytesMax: 256 * kib,
  /** A plugin file. Ours has under 1 MiB. */
  pluginBytesMax: 16 * mib,
} as const;

/**
 * Limits of a plugin file, checked before an engine compiles it. Our plugins have 14 sections, 101 types,
 * 22 imports, 1,326 functions, 7 exports and a manifest of 19 KB.
 */
export const pluginLimits = {
  /** WebAssembly has 14 kinds. The others are custom: names, producers, target features, the manifest. */
  sectionsMax: 64,
  typesMax: 4_000,
  /** Parameters, or results, of one function type: as many as engines take. */
  typeValuesMax: 1_000,
  /** The ABI has 24, and a plugin can import each only once. */
  importsMax: 64,
  functionsMax: 100_000,
  /** Ours has one. The host adds an export for each table, to be able to read it. */
  tablesMax: 16,
  /** The host adds an export for each global as well. Engines take a million. Ours has 2. */
  globalsMax: 4_000,
  /** Data segments, and as many element segments: as many as engines take. Ours has 1,338. */
  segmentsMax: 100_000,
  /** The memory, and one function for each tool. */
  exportsMax: 256,
  memoriesMax: 1,
  /** Bytes of an imported or exported name. The longest valid name has 64. */
  nameBytesMax: 256,
  /** Six tools with their JSON Schemas and two pages take 20 KB. */
  manifestBytesMax: 512 * kib,
  /** As for answers, which similar code copies and prints. */
  manifestDepthMax: 64,
  /** A tool's page, in UTF-8. A model reads the whole page: some 4,000 tokens. Our longest has 7 KB. */
  documentationBytesMax: 16 * kib,
  /** A plugin's instructions, in UTF-8. Models have them in every session. Our longest have under 500 bytes. */
  instructionsBytesMax: kib,
  /**
   * Error codes that a plugin declares. The most in a memory system that a family imitates is 6. A model cannot choose
   * between more than 64, and the host compares each failed answer with all of them.
   */
  errorsMax: 64,
  /** Paths in a tool's `derivedFiles`. A host compares each path of a call with all of them. Ours have one. */
  derivedFilesMax: 16,
  /** Deviations of one file that a report lists; more are only counted. */
  deviationsMax: 20,
} as const;

/** A policy file, and the lock file that it names. Checked before either is parsed. */
export const policyLimits = {
  /** As for a manifest. The shipped policy has under 1 KB; 256 tools with all rights take 40 KB. */
  fileBytesMax: 512 * kib,
  /** The deepest valid value, the name of a right, is six levels deep. */
  depthMax: 16,
} as const;

/**
 * The SBOM in the package. Plain numbers: the bundler would keep computed ones in a plugin, even unused.
 */
export const sbomLimits = {
  /** 1 MiB. Ours has 8 KB; an SBOM of a thousand packages would have 700 KB. */
  bytesMax: 1_048_576,
  /** CycloneDX nests its objects eight deep. */
  depthMax: 32,
} as const;

/** The configuration: the file, and values in the file, environment variables and flags. Plain numbers, as above. */
export const configLimits = {
  /** 64 KiB. A file with every setting and long lists takes 8 KB. */
  fileBytesMax: 65_536,
  /** The file, `serve`, `serve.auth` and a list in it make four. */
  depthMax: 8,
  /** Plugin files, names of hosts, origins. */
  listedMax: 100,
  /** The longest file name that systems take. */
  fileNameCharsMax: 4_096,
  /** URLs and claims: as long as every browser and issuer accepts. */
  textCharsMax: 2_048,
} as const;

/** The memory index in a prompt: the indexes of all families together, or one family's, without its frame. */
export const promptLimits = {
  /** A model reads all of them before each answer. */
  linesMax: 200,
  bytesMax: 25_000,
  /** The frame that marks one family's index as data: a tag at each end, a note, and the number of hidden entries. */
  frameLinesMax: 8,
  frameBytesMax: kib,
} as const;

/** Text of others on a report's HTML page. The report in JSON has all of it. */
export const pageLimits = {
  /** A tool's description takes some 700; a path at most 255. */
  textCharsMax: 1_000,
  /** Consecutive invisible characters that are named one by one. A bidirectional name or a joined emoji has fewer. */
  unseenRunMax: 8,
  rowsMax: 500,
  /** Names to choose from in a filter. Each adds a style rule. */
  filterOptionsMax: 500,
} as const;
