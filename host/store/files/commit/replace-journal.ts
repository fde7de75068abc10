import { ToolError } from "../../../tool-error.ts";
import type { Directory } from "../disk/directory.ts";
import { encodeCheckpoint, newSalt, recordsStart } from "./journal-format.ts";
import type { TouchedFile } from "./retire.ts";
import { flushFiles } from "./retire.ts";
import type { ScopeFolders } from "./scope-folders.ts";

const staged = "staged-journal";

/**
 * Puts a new, empty journal in the place of one whose flush has failed. The files that the old one vouches for are made
 * durable first.
 */
export async function replaceJournal(
  { own, folders, owner, first }: { own: Directory; folders: ScopeFolders; owner: string; first: number },
  touched: readonly TouchedFile[],
): Promise<void> {
  await flushFiles(folders, touched);
  const header = Buffer.alloc(recordsStart);
  header.set(encodeCheckpoint({ first, salt: newSalt() }, owner));
  if (own.sizeOf(staged, "journal") !== null) own.remove(staged);
  own.create(staged, header, "journal");
  {
    using file = own.openFile(staged, "journal", "write");
    if (file === null) throw new ToolError("STORAGE_FAILED", "Cannot replace the journal: it has gone meanwhile");
    await file.flush();
  }
  own.rename(staged, own, "journal");
  await own.flush();
}
