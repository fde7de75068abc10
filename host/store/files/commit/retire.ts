/** Makes every file durable that the journal vouches for, then drops its records. */
import { ToolError } from "../../../tool-error.ts";
import type { DiskFile } from "../disk/directory.ts";
import { settleAll } from "../settle-all.ts";
import type { Journal } from "./journal.ts";
import type { ScopeFolders } from "./scope-folders.ts";

export interface TouchedFile {
  readonly scope: string;
  readonly path: string;
}

/**
 * On a failed flush the records stay, and a mark in the journal says that the files are not to be trusted: whoever opens
 * it next writes them anew, because a file whose flush has failed once must not be believed a second time.
 */
export async function retireJournal(
  { folders, journal }: { readonly folders: ScopeFolders; readonly journal: Journal },
  files: readonly TouchedFile[],
): Promise<void> {
  try {
    await flushFiles(folders, files);
  } catch (error) {
    journal.markDistrusted();
    throw error;
  }
  await journal.checkpoint();
}

/** Flushes files, then the folders that lead to them. */
export async function flushFiles(folders: ScopeFolders, files: readonly TouchedFile[]): Promise<void> {
  await settleAll(files.map((file) => flushFile(folders, file)));
  await folders.flush();
}

async function flushFile(folders: ScopeFolders, touched: TouchedFile): Promise<void> {
  using file = openToFlush(folders, touched);
  await file?.flush();
}

/** What a person has put in the place of a file, or of a folder that leads to it, is none of ours to flush. */
function openToFlush(folders: ScopeFolders, { scope, path }: TouchedFile): DiskFile | null {
  try {
    const place = folders.find(scope, path);
    return place && place.folder.openFile(place.name, path, "write");
  } catch (error) {
    if (error instanceof ToolError && (error.code === "STORAGE_UNSAFE" || error.code === "NAME_CONFLICT")) return null;
    throw error;
  }
}
