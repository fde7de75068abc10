import { createOverLeftover } from "../../../disk/create-over-leftover.ts";
import type { Directory } from "../../../disk/directory.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { flushTrusted } from "./retire.ts";
import type { TouchedFile } from "./retire.ts";
import { walFile } from "./wal-names.ts";
import type { Wal } from "./wal.ts";

const staged = `staged-${walFile}`;

/**
 * Puts a new, empty WAL in the place of one whose flush has failed. The files that the old one vouches for are made
 * durable first. The new one has no checkpoint, so whoever writes its first record flushes the folders on the way: should
 * this process die before its own flush, nobody relies on a name that may be lost.
 */
export async function replaceWal(
  { own, folders, wal }: { own: Directory; folders: ScopeFolders; wal: Wal },
  touched: readonly TouchedFile[],
): Promise<void> {
  await flushTrusted(folders, wal, touched);
  createOverLeftover(own, staged, { content: new Uint8Array(), shown: walFile });
  own.rename(staged, own, walFile);
  await own.flush();
}
