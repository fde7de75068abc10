import type { Directory } from "./directory.ts";
import { openHandedFolder } from "./folder-handle.ts";
import type { HandedFolder } from "./folder-handle.ts";
import { PinnedDirectory } from "./pinned-directory.ts";

/** Opens a folder that another thread of this process holds open; `null` if it does so no more. */
export function openHanded(handed: HandedFolder): Directory | null {
  const handle = openHandedFolder(handed);
  return handle && new PinnedDirectory(handle);
}
