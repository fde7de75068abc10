import { fdatasync, fdatasyncSync } from "node:fs";
import { promisify } from "node:util";

const flushInThread = promisify(fdatasync);

/** Below it the way to another thread and back would cost more than the flush itself. */
const atOnceMs = 0.5;

/** How long the last flush took that a caller waited for. Nobody knows before the first. */
let lastMs = Infinity;

/**
 * Makes a file's content durable. One that a caller waits for is done at once where flushes are almost free; everywhere
 * else, and for all that happens in the background, a thread of the system's waits for the disk.
 */
export async function flushFile(descriptor: number, isWaitedFor: boolean): Promise<void> {
  if (!isWaitedFor) return await flushInThread(descriptor);
  const start = performance.now();
  try {
    if (lastMs < atOnceMs) fdatasyncSync(descriptor);
    else await flushInThread(descriptor);
  } finally {
    lastMs = performance.now() - start;
  }
}
