import { constants, open } from "node:fs/promises";
import { buffer } from "node:stream/consumers";

/** A regular file's bytes, or what is wrong with it: nothing is read of one that is larger than allowed, or waits for others. */
export async function readBounded(file: string, bytesMax: number): Promise<Uint8Array | string> {
  try {
    // Without O_NONBLOCK, opening a FIFO waits for somebody to write into it.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) return "is not fit to be read: it is no regular file";
    if (stat.size > bytesMax) return `is not fit to be read: it is ${stat.size} bytes, at most ${bytesMax} allowed`;
    // What is added while it is read has an end too.
    return await buffer(handle.createReadStream({ end: bytesMax, autoClose: false }));
  } catch {
    return "cannot be read";
  }
}
