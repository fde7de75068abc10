/** Makes the files durable that frames name. */
import type { DiskFile } from "../../../disk/directory.ts";
import { isForbidden } from "../../../disk/disk-failure.ts";
import type { Place } from "../../../values/change-set.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { giveTurn } from "../../../values/turns.ts";
import { settleAll } from "../scope-folders.ts";
import type { ScopeFolders } from "../scope-folders.ts";

interface Touching {
  readonly folders: ScopeFolders;
  /**
   * Called at once if a flush fails, not after all of them: this process can be killed meanwhile. After a failed flush, a later
   * success proves nothing, so whoever uses the home next must write the files again. Not called for a file that merely cannot be
   * opened.
   */
  readonly distrust: () => void;
}

/** How many files are open at once: a process can have few descriptors left. */
const openMax = 16;

/** Flushes files, then the folders that lead to them. */
export async function flushTouched({ folders, distrust }: Touching, files: readonly Place[]): Promise<void> {
  const orDistrust = (error: unknown): never => {
    distrust();
    throw error;
  };
  for (let at = 0; at < files.length; at += openMax) {
    const all: DiskFile[] = [];
    try {
      for (const file of files.slice(at, at + openMax)) {
        await giveTurn();
        all.push(...openToFlush(folders, file));
      }
      await settleAll(all.map((file) => file.flush().catch(orDistrust)));
    } finally {
      for (const file of all) file[Symbol.dispose]();
    }
  }
  await folders.flush().catch(orDistrust);
}

/** The same at the end of the process. */
export function flushTouchedNow({ folders, distrust }: Touching, files: readonly Place[]): void {
  try {
    for (const file of files) {
      for (const open of openToFlush(folders, file)) {
        using flushed = open;
        flushed.flushNow();
      }
    }
    folders.flushNow();
  } catch (error) {
    distrust();
    throw error;
  }
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
