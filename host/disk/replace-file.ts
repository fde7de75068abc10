import type { Directory } from "./directory.ts";
import type { Permissions } from "./folder-handle.ts";

interface Replacement extends NewFile {
  /** The file's name until it is whole. */
  readonly staged: string;
  /** Where it is until then, on the same disk; default: where it will be. */
  readonly stagedIn?: Directory;
}

/**
 * Makes one of the host's own files, or replaces it in one step: its content is on the disk before it has the name, which
 * is durable once the folder is flushed.
 */
export async function replaceFile(
  folder: Directory,
  name: string,
  { staged, stagedIn = folder, ...file }: Replacement,
): Promise<void> {
  createOverLeftover(stagedIn, staged, file);
  {
    using whole = stagedIn.openFile(staged, file.shown, "flush");
    await whole?.flush();
  }
  stagedIn.rename(staged, folder, name);
}

export interface NewFile {
  readonly content: Uint8Array;
  /** How messages name it. */
  readonly shown: string;
  /** Its permissions; by default only its owner can use it. */
  readonly like?: Permissions | null;
}

/** Writes one of the host's own files. Replaces a leftover of a killed process. */
export function createOverLeftover(folder: Directory, name: string, { content, shown, like = null }: NewFile): void {
  if (folder.sizeOf(name, shown) !== null) folder.remove(name);
  folder.create(name, content, shown, like);
}
