import { constants, open } from "node:fs/promises";

import { failureOfDisk, isMissing } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";

/**
 * Writes a page that only its owner can read, because it can contain user ids. Replaces an earlier page, but no other
 * file, so a mistake cannot destroy the plugin, the policy or the log. Writes to no link, pipe, device or file with a
 * second name.
 *
 * Throws `STORAGE_UNSAFE` for these, and `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED` for failures of the disk.
 */
export async function writePage(file: string, text: string): Promise<void> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const handle = await open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    // Not `await using`: see `readBoundedFile`.
    await writeInto(handle, text).finally(() => handle.close());
  } catch (error) {
    if (isMissing(error)) throw new ToolError("STORAGE_FAILED", "Cannot write the page: its folder is not there");
    throw failureOfDisk(error, "write the page");
  }
}

type FileHandle = Awaited<ReturnType<typeof open>>;

async function writeInto(handle: FileHandle, text: string): Promise<void> {
  const stat = await handle.stat();
  if (!stat.isFile() || stat.nlink > 1) {
    throw new ToolError(
      "STORAGE_UNSAFE",
      "Cannot write the page: a link or something other than a plain file is in its place",
    );
  }
  if (stat.size > 0 && !(await isPage(handle))) {
    throw new ToolError("STORAGE_UNSAFE", "Cannot write the page: a file that is not an audit page is in its place");
  }
  await handle.chmod(0o600);
  await handle.truncate();
  await handle.writeFile(text);
}

const beginning = "<!doctype html>";

async function isPage(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
  return buffer.toString("latin1", 0, bytesRead).toLowerCase() === beginning;
}
