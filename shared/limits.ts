/**
 * Every number that bounds something, with its unit in the name and its reason beside it.
 * A limit is never optional and never zero.
 */
export { auditLimits } from "./audit-limits.ts";

const kib = 1024;
const mib = 1024 * kib;

/** What a call may bring and take away. */
export const callLimits = {
  /** The caller's name for a call. Longer than every id of a model's tool call, a trace or a UUID. */
  callIdCharsMax: 128,
  /** What the caller may have recorded beside it. All of them take at most 5 KB of a record. */
  labelsMax: 16,
  labelNameCharsMax: 64,
  /** Holds a URL, a model's name, a span's id. */
  labelValueCharsMax: 256,
  /** A 65,536-byte body written as JSON escapes takes six bytes for each of its own; the rest of the input is small. */
  inputBytesMax: 512 * kib,
  /** As the input: the largest answer is one body, escaped. */
  outputBytesMax: 512 * kib,
  /** Arrays and objects inside each other. Deeper values overflow the stacks of those who copy or print them. */
  outputDepthMax: 64,
  /**
   * Extism blocks of a call that are not freed, together: requests, replies, the answer. They lie outside the guest's
   * memory. The largest reply is a file of 2 MiB whose every byte becomes an escape of six.
   */
  blockBytesMax: 64 * mib,
  /** Blocks of a call, freed ones among them. The JavaScript SDK cannot name more than 32,767, and never reuses one. */
  blocksMax: 32_000,
  /**
   * Capability requests of one call. The largest repair asks five times for each of 1,000 entries; each request takes two
   * blocks.
   */
  hostCallsMax: 10_000,
  /**
   * What one call writes, in all its scopes together. It is held in memory, copied to the side that commits, and enters
   * the WAL. As much as one scope may hold: the largest repair writes every entry anew.
   */
  stagedBytesMax: 64 * mib,
  /** One capability request: a file's content, escaped, and its path. */
  requestBytesMax: 8 * mib,
  /** A tool logs for its developer; a flood helps nobody. */
  logLinesMax: 200,
  logLineCharsMax: 2000,
  /** Reasons behind failures that one call may add to the operator's log. */
  causesMax: 20,
} as const;

/** Calls that were made and do not run yet. */
export const queueLimits = {
  /** A thread serves some 1,000 calls in a second; who would wait longer does better to come back. */
  callsMax: 1024,
  /** More than an agent has tools to call at once; a flood of one user takes an eighth of the places. */
  callsPerUserMax: 128,
  /** Their inputs together: 128 of the largest. */
  bytesMax: 64 * mib,
  /** How long a call waits for its user's turn, the user's lock, and a thread, together. */
  waitMs: 30_000,
  /** Users whose lock is held at once: each takes up to ten descriptors, of the 1,024 that a process has on some systems. */
  usersHeldMax: 64,
} as const;

/** The threads that run guests. */
export const threadLimits = {
  /** How long a thread that has nothing to do is kept. */
  idleMs: 60_000,
  /** After how long without a call a new thread makes instances for the first one. Whoever makes a runtime for a call is faster. */
  quietMs: 50,
  /** Instances that are kept ready in a thread, of as many plugins: each may be as large as its module's memory at first. */
  instancesMax: 4,
  /** For how long a cancelled guest may go on before its thread is killed. Starting another takes 130 ms of a processor. */
  lingerMs: 50,
} as const;

/** What is kept of a call's capability uses, in memory that its thread shares. */
export const trailLimits = {
  /**
   * Uses that went well: each path once for each kind of use. The largest repair reads, moves and writes each of 1,000
   * entries; with the longest names that takes 480 KB.
   */
  usesBytes: 512 * kib,
  /** Denied and failed uses. They have a place of their own, which uses that went well cannot fill. */
  refusalsMax: 100,
  /** The longest of them: a scope and a path of 128 characters each, every one written as an escape of six bytes. */
  refusalBytes: 1_640,
} as const;

/** What a call tells an OpenTelemetry tracer. */
export const spanLimits = {
  /** Paths in one attribute. A tracer copies and exports them all; the audit log has the rest. */
  pathsMax: 100,
} as const;

/** The end of a runtime. */
export const closingLimits = {
  /** For how long what was admitted may go on. As long as a call that has just begun may run. */
  graceMs: 10_000,
} as const;

/** What a user's folder may hold. */
export const storeLimits = {
  /** UTF-8 bytes, before encoding. 128 holds every UUID, e-mail address and subject claim seen in practice. */
  userIdBytesMax: 128,
  /** Most file systems hold 255 bytes in a name; 64 of them stay free for the store's own suffixes. */
  folderNameBytesMax: 191,
  /** The longest path a tool needs is `trash/`, a 100-character name, a stamp and `.md`. */
  pathCharsMax: 255,
  /** An index of 1,000 entries with the longest names and descriptions takes 1.4 MB. */
  fileBytesMax: 2 * mib,
  /** All files of a user's scope together, trash included. */
  scopeBytesMax: 64 * mib,
  /** Files in one listing. Beyond it something else than memory is kept there. */
  listEntriesMax: 20_000,
  /** Steps of one call: writes and moves. The largest repair moves and writes each of 1,000 entries, and the index. */
  changesMax: 2_500,
} as const;

/** What one plugin instance may use. */
export const guestLimits = {
  /**
   * Wasm pages of 64 KiB: 32 MiB. The most that was seen, 13.4 MiB, is an index of 1,000 entries of the longest kind
   * being made anew from facts of the largest kind.
   */
  memoryPagesMax: 512,
  /** Polls of the engine's interrupt check, one for about 5,000 loop turns. */
  fuelPollsMax: 20_000,
  /** From the start in a worker to the answer. */
  deadlineMs: 10_000,
  /** The engine's own stack; beyond it the guest sees a RangeError that it can catch. */
  stackBytesMax: 256 * kib,
  /** A plugin file. Ours has under 1 MiB. */
  pluginBytesMax: 16 * mib,
} as const;

/**
 * What a plugin file may be made of, checked before an engine is asked to compile it. Ours has 14 sections, 101 types,
 * 22 imports, 1,326 functions, 7 exports and a manifest of 19 KB.
 */
export const pluginLimits = {
  /** WebAssembly knows 14 kinds; beyond them there are custom ones: names, producers, target features, the manifest. */
  sectionsMax: 64,
  typesMax: 4_000,
  /** Parameters, or results, of one function type: as many as engines take. */
  typeValuesMax: 1_000,
  /** ABI version 1 has 22 to offer, and none may be imported twice. */
  importsMax: 64,
  functionsMax: 100_000,
  /** Ours has one; to see them all, the host lists each of them as an export. */
  tablesMax: 16,
  /** As tables. Engines take a million, which would have to be exported one by one. Ours has 2. */
  globalsMax: 4_000,
  /** Of data, and of elements: as many as engines take. Ours has 1,338. */
  segmentsMax: 100_000,
  /** The memory, and one function for each tool. */
  exportsMax: 256,
  memoriesMax: 1,
  /** Bytes of an imported or exported name. The longest that can be right has 64. */
  nameBytesMax: 256,
  /** Six tools with their JSON Schemas and two pages take 20 KB. */
  manifestBytesMax: 512 * kib,
  /** As answers, which are copied and printed by the same kind of code. */
  manifestDepthMax: 64,
  /** A tool's page, in UTF-8. A model reads it in one piece: some 4,000 tokens. The longest of ours has 7 KB. */
  documentationBytesMax: 16 * kib,
  /**
   * Error codes of a plugin's own. The system that has the most of those that families are made after has 6; a model
   * cannot choose between more, and each answer that fails is compared with all of them.
   */
  errorsMax: 64,
  /** Where one file is not as it should be: those that a reviewer is told one by one. The rest is counted. */
  deviationsMax: 20,
} as const;

/** A policy's file, and the lock file that it names. Checked before anything of either is parsed. */
export const policyLimits = {
  /** As a manifest: the shipped policy has under 1 KB, and 256 tools with all rights take 40 KB. */
  fileBytesMax: 512 * kib,
  /** The deepest that has a meaning, the name of a right, stands in six. */
  depthMax: 16,
} as const;

/**
 * The list of components that comes with the package. Plain numbers: of computed ones the bundler cannot tell that a plugin
 * does not need them.
 */
export const sbomLimits = {
  /** 1 MiB for the list of components. Ours has 8 KB; one of a thousand packages would have 700. */
  bytesMax: 1_048_576,
  /** CycloneDX nests its objects eight deep. */
  depthMax: 32,
} as const;

/** What is configured: the file, and what it, the environment and the flags may say. Plain numbers, as above. */
export const configLimits = {
  /** 64 KiB. A file that says everything, with long lists, takes 8 KB. */
  fileBytesMax: 65_536,
  /** A list in `serve.auth`, in `serve`, in the file: four. */
  depthMax: 8,
  /** Plugin files, names of hosts, origins. */
  listedMax: 100,
  /** The longest name of a file that systems take. */
  fileNameCharsMax: 4_096,
  /** URLs and claims: as much as browsers and issuers are sure to take. */
  textCharsMax: 2_048,
} as const;

/** What enters a prompt of a user's memory: the indexes of all families together. Of what one alone says, without its frame. */
export const promptLimits = {
  /** A model reads them all before each answer. */
  linesMax: 200,
  /** 25 KB. */
  bytesMax: 25_000,
  /** What frames one family's index as data: a tag at either end, a note, and how many entries are not shown. */
  frameLinesMax: 8,
  frameBytesMax: kib,
} as const;

/** What a plugin tells a host of itself and its files, by the roles of its tools. */
export const roleLimits = {
  /** Findings and refusals of one answer. With a path and a sentence each, more would not fit into it; beyond it findings are counted. */
  toldMax: 1_000,
} as const;

/** What a report's page shows of what others wrote; the report in JSON has all of it. */
export const pageLimits = {
  /** A tool's description takes some 700; a path at most 255. */
  textCharsMax: 1_000,
  /** Unseen characters in a row, each of which is named. More than a bidirectional name or a joined emoji has. */
  unseenRunMax: 8,
  /** Some ten printed sheets for one table. */
  rowsMax: 500,
} as const;
