import { constants, open } from "node:fs/promises";

import { failureOfDisk } from "../../store/files/disk/disk-failure.ts";
import { ToolError } from "../../tool-error.ts";

/**
 * Writes a page for its owner alone, for it may name users. A page of before is replaced; a link, a pipe or a device is
 * never written to, nor a file that has another name as well.
 *
 * Throws `STORAGE_UNSAFE` for those, `STORAGE_FULL` and `STORAGE_FAILED` for what the disk refuses.
 */
export async function writePage(file: string, text: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    await using handle = await open(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    const stat = await handle.stat();
    if (!stat.isFile() || stat.nlink > 1) {
      throw new ToolError("STORAGE_UNSAFE", "Cannot write the page: a link or no plain file is in its place");
    }
    await handle.truncate();
    await handle.writeFile(text);
  } catch (error) {
    throw failureOfDisk(error, "write the page");
  }
}
