import { createOverLeftover } from "./create-over-leftover.ts";
import type { NewFile } from "./create-over-leftover.ts";
import type { Directory } from "./directory.ts";

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
