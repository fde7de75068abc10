import { constants, open } from "node:fs/promises";

import { failureOfDisk, isMissing } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";

/**
 * Writes a page for its owner alone, for it may name users. A page of before is replaced; a file that begins otherwise
 * never is, so that no slip costs the plugin, the policy or the log that the page is about. Neither is a link, a pipe or
 * a device written to, nor a file that has another name as well.
 *
 * Throws `STORAGE_UNSAFE` for those, `STORAGE_FULL` and `STORAGE_FAILED` for what the disk refuses.
 */
export async function writePage(file: string, text: string): Promise<void> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    await using handle = await open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    const stat = await handle.stat();
    if (!stat.isFile() || stat.nlink > 1) {
      throw new ToolError("STORAGE_UNSAFE", "Cannot write the page: a link or no plain file is in its place");
    }
    if (stat.size > 0 && !(await isPage(handle))) {
      throw new ToolError("STORAGE_UNSAFE", "Cannot write the page: a file that is no page is in its place");
    }
    await handle.chmod(0o600);
    await handle.truncate();
    await handle.writeFile(text);
  } catch (error) {
    if (isMissing(error)) throw new ToolError("STORAGE_FAILED", "Cannot write the page: its folder is not there");
    throw failureOfDisk(error, "write the page");
  }
}

const beginning = "<!doctype html>";

async function isPage(handle: Awaited<ReturnType<typeof open>>): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
  return buffer.toString("latin1", 0, bytesRead).toLowerCase() === beginning;
}
