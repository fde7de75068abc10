import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { promisify } from "node:util";

import type { DiskFile } from "./directory.ts";
import { failureOfDisk } from "./disk-failure.ts";
import { identityOf } from "./folder-handle.ts";
import type { FileIdentity } from "./folder-handle.ts";

/** A file by its descriptor. Closed descriptors are used again by the system, so a closed file refuses every use. */
export class PinnedFile implements DiskFile {
  readonly identity: string;
  #bytes: number;
  readonly #shown: string;
  #descriptor: number | null;

  constructor(descriptor: number, facts: FileIdentity & { readonly size: bigint }, shown: string) {
    this.#descriptor = descriptor;
    this.identity = identityOf(facts);
    this.#bytes = Number(facts.size);
    this.#shown = shown;
  }

  get descriptor(): number {
    if (this.#descriptor === null) throw new RangeError(`The file "${this.#shown}" is closed`);
    return this.#descriptor;
  }

  size(): number {
    void this.descriptor;
    return this.#bytes;
  }

  read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    let done = 0;
    this.#try("read", () => {
      for (let step = -1; step !== 0 && done < length; done += step) {
        step = readSync(this.descriptor, bytes, done, length - done, at + done);
      }
    });
    return bytes.subarray(0, done);
  }

  write(at: number, bytes: Uint8Array): void {
    this.#try("write", () => {
      for (let done = 0; done < bytes.length;) {
        done += writeSync(this.descriptor, bytes, done, bytes.length - done, at + done);
      }
    });
    this.#bytes = Math.max(this.#bytes, at + bytes.length);
  }

  truncate(bytes: number): void {
    this.#try("write", () => ftruncateSync(this.descriptor, bytes));
    this.#bytes = bytes;
  }

  async flush(isWaitedFor = false): Promise<void> {
    try {
      await flushFile(this.descriptor, isWaitedFor);
    } catch (error) {
      throw failureOfDisk(error, `flush "${this.#shown}"`);
    }
  }

  [Symbol.dispose](): void {
    if (this.#descriptor === null) return;
    const descriptor = this.#descriptor;
    this.#descriptor = null;
    closeSync(descriptor);
  }

  #try<Result>(action: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw failureOfDisk(error, `${action} "${this.#shown}"`);
    }
  }
}

const flushInThread = promisify(fdatasync);

/** Below it the way to another thread and back would cost more than the flush itself. */
const atOnceMs = 0.5;

/** How long the last flush took that a caller waited for. Nobody knows before the first. */
let lastMs = Infinity;

/**
 * Makes a file's content durable. One that a caller waits for is done at once where flushes are almost free; everywhere
 * else, and for all that happens in the background, a thread of the system's waits for the disk.
 */
async function flushFile(descriptor: number, isWaitedFor: boolean): Promise<void> {
  if (!isWaitedFor) return await flushInThread(descriptor);
  const start = performance.now();
  try {
    if (lastMs < atOnceMs) fdatasyncSync(descriptor);
    else await flushInThread(descriptor);
  } finally {
    lastMs = performance.now() - start;
  }
}
