/** Flushes every file that the WAL protects, then drops its records. */
import type { DiskFile } from "../../../disk/directory.ts";
import { isForbidden } from "../../../disk/disk-failure.ts";
import type { Place } from "../../../values/change-set.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import type { Flushing } from "./flushing.ts";
import type { Wal } from "./wal.ts";

interface Protected {
  readonly folders: ScopeFolders;
  readonly wal: Wal;
}

/** How many files are open at once: a process can have few descriptors left. */
const openMax = 16;

export function* retireWal(by: Protected, files: readonly Place[]): Flushing<void> {
  yield* flushTouched(by, files);
  yield* by.wal.checkpointing();
}

/**
 * Flushes files, then the folders that lead to them. If a flush fails, the records stay, and a mark in the WAL says that the
 * files cannot be trusted. Whoever opens the WAL next writes them again: after a failed flush, a later success proves
 * nothing. A file that merely cannot be opened sets no mark.
 */
export function* flushTouched({ folders, wal }: Protected, files: readonly Place[]): Flushing<void> {
  // Marked at once, not after all flushes: this process can be killed meanwhile.
  const failed = (): void => wal.markDistrusted();
  for (let at = 0; at < files.length; at += openMax) {
    const all: DiskFile[] = [];
    try {
      for (const file of files.slice(at, at + openMax)) all.push(...openToFlush(folders, file));
      yield { all, failed };
    } finally {
      for (const file of all) file[Symbol.dispose]();
    }
  }
  yield { all: [folders], failed };
}

/** Nothing if there is no file, or a person has put something else in its place or in that of one of its folders. */
function openToFlush(folders: ScopeFolders, { scope, path }: Place): DiskFile[] {
  try {
    const place = folders.find(scope, path);
    const file = place && place.folder.openFile(place.name, path, "flush");
    return file === null ? [] : [file];
  } catch (error) {
    // A file that may not be opened can still be the host's, and not yet on the disk.
    if (!(error instanceof ToolError) || isForbidden(error)) throw error;
    if (error.code === "STORAGE_UNSAFE" || error.code === "NAME_CONFLICT") return [];
    throw error;
  }
}
