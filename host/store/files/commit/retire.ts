/** Makes every file durable that the WAL vouches for, then drops its records. */
import type { DiskFile } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { settleAll } from "../settle-all.ts";
import type { Wal } from "./wal.ts";

export interface TouchedFile {
  readonly scope: string;
  readonly path: string;
}

/** A flush has failed: what the system shows of a file may not be on the disk. */
class FlushFailed extends Error {}

/** How many files are open at once: a process may have few descriptors left. */
const openMax = 16;

/**
 * On a failed flush the records stay, and a mark in the WAL says that the files are not to be trusted: whoever opens
 * it next writes them anew, because a file whose flush has failed once must not be believed a second time. A file that
 * could only not be opened says nothing about the disk.
 */
export async function retireWal(
  { folders, wal }: { readonly folders: ScopeFolders; readonly wal: Wal },
  files: readonly TouchedFile[],
): Promise<void> {
  await flushTrusted(folders, wal, files);
  await wal.checkpoint();
}

/** Flushes what a WAL vouches for; a failed flush is noted in the WAL. Throws the disk's failure. */
export async function flushTrusted(folders: ScopeFolders, wal: Wal, files: readonly TouchedFile[]): Promise<void> {
  try {
    // Noted at once, not when all flushes have ended: this process may be killed meanwhile.
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

/** What a person has put in the place of a file, or of a folder that leads to it, is none of ours to flush. */
function openToFlush(folders: ScopeFolders, { scope, path }: TouchedFile): DiskFile | null {
  try {
    const place = folders.find(scope, path);
    return place && place.folder.openFile(place.name, path, "flush");
  } catch (error) {
    if (error instanceof ToolError && (error.code === "STORAGE_UNSAFE" || error.code === "NAME_CONFLICT")) return null;
    throw error;
  }
}
