import type { Directory } from "./directory.ts";

/** Writes a file of the host's own under a name where a killed process may have left one. */
export function createOverLeftover(folder: Directory, name: string, content: Uint8Array, shown: string): void {
  if (folder.sizeOf(name, shown) !== null) folder.remove(name);
  folder.create(name, content, shown);
}
