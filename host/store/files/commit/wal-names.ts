/**
 * The names of a WAL (write-ahead log) on the disk. They must not change: existing folders have them, and other
 * processes look for them.
 */
export const walFile = "journal";

/** A WAL that cannot be read is renamed to this and a number. */
export const damagedWalPrefix = "journal-damaged-";

/** The first word of a checkpoint; the version of the format follows. */
export const checkpointMark = "memcell-journal";
