import type { Directory } from "../../../disk/directory.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { flushTrusted } from "./retire.ts";
import type { TouchedFile } from "./retire.ts";
import { relaxedMark, relaxedOffset } from "./wal-format.ts";
import { walFile } from "./wal-names.ts";
import type { Wal } from "./wal.ts";

const staged = `staged-${walFile}`;

/**
 * Replaces a WAL whose flush has failed with a new, empty one. First flushes the files that the old WAL protects. The
 * new WAL has no checkpoint, so the writer of its first record flushes the folders that lead to it. So even if this
 * process dies before its own flush, no record depends on a name that can be lost.
 */
export async function replaceWal(
  { own, folders, wal }: { own: Directory; folders: ScopeFolders; wal: Wal },
  touched: readonly TouchedFile[],
): Promise<void> {
  await flushTrusted(folders, wal, touched);
  // The mark says so: folders are to be flushed, and this WAL was not emptied by somebody.
  const content = new Uint8Array(relaxedOffset + 1);
  content[relaxedOffset] = relaxedMark;
  await replaceFile(own, walFile, { content, shown: walFile, staged });
  await own.flush();
}
