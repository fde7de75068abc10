import type { ChangeSet } from "../../values/change-set.ts";
import { giveTurn } from "../../values/turns.ts";
import { digestOf } from "../reading.ts";
import { contentIn } from "./change-versions.ts";
import type { ScopeFolders } from "./scope-folders.ts";

/** How many bytes of files are read to find their contents in the history. */
const hashedBytesMax = 64 * 1024 * 1024;

/** The hashes of files, as far as they can be read and are not too many bytes together. */
export async function hashesOf(files: ChangeSet, folders: ScopeFolders): Promise<string[]> {
  const hashes: string[] = [];
  let bytes = 0;
  for (const { scope, path } of files) {
    await giveTurn();
    const content = contentIn(folders, scope, path);
    hashes.push(digestOf(content) ?? "");
    bytes += content?.length ?? 0;
    if (bytes > hashedBytesMax) break;
  }
  return hashes;
}
