import { constants, open } from "node:fs/promises";
import { buffer } from "node:stream/consumers";

/** Reads a regular file. Returns what is wrong instead, unread, if the file is too large, or not a regular file. */
export async function readBounded(file: string, bytesMax: number): Promise<Uint8Array | string> {
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) return "cannot be read: it is not a regular file";
    if (stat.size > bytesMax) return `cannot be read: it is ${stat.size} bytes, at most ${bytesMax} allowed`;
    // `end` also bounds a file that grows while it is read.
    return await buffer(handle.createReadStream({ end: bytesMax, autoClose: false }));
  } catch {
    return "cannot be read";
  }
}
