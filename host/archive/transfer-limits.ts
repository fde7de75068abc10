const mib = 1024 * 1024;

/**
 * Bounds of a user's memory as a file that travels. What a scope and a file may hold bounds it as well; each scope within its
 * quota can be exported and imported, if not with all others then alone.
 */
export const transferLimits = {
  /** What an export holds in memory, for the user is held only while it is read. As much as two full scopes. */
  exportBytesMax: 128 * mib,
  /** Of three full scopes together. A zip file in the form that all programs read cannot count to 65,536. */
  filesMax: 60_000,
  /** A zip file of as much as an export holds, not compressed: each name takes up to 652 bytes, and the files 128 MiB. */
  zipBytesMax: 168 * mib,
  /** The label of an export. Ours has under 100 bytes. */
  labelBytesMax: 4096,
  labelDepthMax: 4,
  /** Names for one file of a trash, whose own is taken. Who fills a trash with them has each file compared with all. */
  trashNamesTriedMax: 64,
  /** What is wrong with an import, told one by one. The rest is counted. */
  refusalsShownMax: 100,
} as const;
