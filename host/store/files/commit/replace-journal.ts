import { createOverLeftover } from "../../../disk/create-over-leftover.ts";
import type { Directory } from "../../../disk/directory.ts";
import type { Journal } from "./journal.ts";
import { flushTrusted } from "./retire.ts";
import type { TouchedFile } from "./retire.ts";
import type { ScopeFolders } from "./scope-folders.ts";

const staged = "staged-journal";

/**
 * Puts a new, empty journal in the place of one whose flush has failed. The files that the old one vouches for are made
 * durable first. The new one has no checkpoint, so whoever writes its first record flushes the folders on the way: should
 * this process die before its own flush, nobody relies on a name that may be lost.
 */
export async function replaceJournal(
  { own, folders, journal }: { own: Directory; folders: ScopeFolders; journal: Journal },
  touched: readonly TouchedFile[],
): Promise<void> {
  await flushTrusted(folders, journal, touched);
  createOverLeftover(own, staged, { content: new Uint8Array(), shown: "journal" });
  own.rename(staged, own, "journal");
  await own.flush();
}
