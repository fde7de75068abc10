/** Flushes every file that the WAL protects, then drops its records. */
import type { DiskFile } from "../../../disk/directory.ts";
import { isForbidden } from "../../../disk/disk-failure.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { settleAll } from "../settle-all.ts";
import type { Wal } from "./wal.ts";

export interface TouchedFile {
  readonly scope: string;
  readonly path: string;
}

/** A flush has failed: a file's content is perhaps not on the disk. */
class FlushFailed extends Error {}

/** How many files are open at once: a process can have few descriptors left. */
const openMax = 16;

/**
 * If a flush fails, the records stay, and a mark in the WAL says that the files cannot be trusted. Whoever opens the
 * WAL next writes them again: after a failed flush, a later success proves nothing. A file that merely cannot be opened
 * sets no mark.
 */
export async function retireWal(
  { folders, wal }: { readonly folders: ScopeFolders; readonly wal: Wal },
  files: readonly TouchedFile[],
): Promise<void> {
  await flushTrusted(folders, wal, files);
  await wal.checkpoint();
}

/** As `retireWal`, at the end of the process. */
export function retireNow(
  { folders, wal }: { readonly folders: ScopeFolders; readonly wal: Wal },
  files: readonly TouchedFile[],
): void {
  try {
    for (const each of files) {
      using file = openToFlush(folders, each);
      file?.flushNow();
    }
    folders.flushNow();
  } catch (error) {
    wal.markDistrusted();
    throw error;
  }
  wal.checkpointNow();
}

/** Flushes files that a WAL protects, and marks the WAL if a flush fails. Throws the disk's failure. */
export async function flushTrusted(folders: ScopeFolders, wal: Wal, files: readonly TouchedFile[]): Promise<void> {
  try {
    // Marked at once, not after all flushes: this process can be killed meanwhile.
    await flushFiles(folders, files, () => wal.markDistrusted());
  } catch (error) {
    throw error instanceof FlushFailed ? error.cause : error;
  }
}

/** Flushes files, then the folders that lead to them. */
async function flushFiles(folders: ScopeFolders, files: readonly TouchedFile[], onFailure: () => void): Promise<void> {
  for (let at = 0; at < files.length; at += openMax) {
    await settleAll(files.slice(at, at + openMax).map((file) => flushFile(folders, file, onFailure)));
  }
  await flushed(() => folders.flush(), onFailure);
}

async function flushFile(folders: ScopeFolders, touched: TouchedFile, onFailure: () => void): Promise<void> {
  using file = openToFlush(folders, touched);
  if (file) await flushed(() => file.flush(), onFailure);
}

async function flushed(flush: () => Promise<void>, onFailure: () => void): Promise<void> {
  try {
    await flush();
  } catch (error) {
    onFailure();
    throw new FlushFailed("A flush has failed", { cause: error });
  }
}

/** `null` if there is no file, or a person has put something else in its place or in that of one of its folders. */
function openToFlush(folders: ScopeFolders, { scope, path }: TouchedFile): DiskFile | null {
  try {
    const place = folders.find(scope, path);
    return place && place.folder.openFile(place.name, path, "flush");
  } catch (error) {
    // A file that may not be opened can still be the host's, and not yet on the disk.
    if (!(error instanceof ToolError) || isForbidden(error)) throw error;
    if (error.code === "STORAGE_UNSAFE" || error.code === "NAME_CONFLICT") return null;
    throw error;
  }
}
