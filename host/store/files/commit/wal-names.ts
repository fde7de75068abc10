/**
 * What a user's WAL (write-ahead log) is called on the disk. Folders and records have carried these names from the first
 * version on, and other processes look for them: they stay as they are, whatever the code calls it.
 */
export const walFile = "journal";

/** What cannot be read is put aside under this name and a number. */
export const damagedWalPrefix = "journal-damaged-";

/** The first word of a checkpoint, and the version of the format. */
export const checkpointMark = "memcell-journal 1";
