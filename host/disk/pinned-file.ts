import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, futimesSync, readSync, writeSync } from "node:fs";
import { promisify } from "node:util";

import { storeLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";
import type { DiskFile, Measured } from "./directory.ts";
import { failureOfDisk, linkInPlace, notRegular } from "./disk-failure.ts";
import { identityOf } from "./folder-handle.ts";
import type { FileIdentity } from "./folder-handle.ts";

/** A file by its descriptor. The system reuses closed descriptors, so a closed file refuses every use. */
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
    const done = this.#try("read", () => readFrom(this.descriptor, at, bytes));
    return bytes.subarray(0, done);
  }

  write(at: number, bytes: Uint8Array): void {
    this.#try("write", () => writeFrom(this.descriptor, at, bytes));
    this.#bytes = Math.max(this.#bytes, at + bytes.length);
  }

  truncate(bytes: number): void {
    this.#try("write", () => ftruncateSync(this.descriptor, bytes));
    this.#bytes = bytes;
  }

  setWritten(writtenUs: number): void {
    // Node cuts off what is less than a microsecond, and its number of seconds is not exact.
    const seconds = (writtenUs + 0.5) / 1_000_000;
    this.#try("write", () => futimesSync(this.descriptor, seconds, seconds));
  }

  async flush(isWaitedFor = false): Promise<void> {
    try {
      await flushFile(this.descriptor, isWaitedFor);
    } catch (error) {
      throw failureOfDisk(error, `flush "${this.#shown}"`);
    }
  }

  flushNow(): void {
    this.#try("flush", () => fdatasyncSync(this.descriptor));
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

/** Reads from offset `at` into `bytes`; returns how many bytes were read, fewer at the end of the file. */
export function readFrom(descriptor: number, at: number, bytes: Uint8Array): number {
  let done = 0;
  for (let step = -1; step !== 0 && done < bytes.length; done += step) {
    step = readSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
  return done;
}

/** Writes all of `bytes` at offset `at`: the system can take them in parts. */
export function writeFrom(descriptor: number, at: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
}

const flushInThread = promisify(fdatasync);

/** Below this, the way to another thread and back would cost more than the flush itself. */
const atOnceMs = 0.5;

/** How long the last flush took that a call waited for; unknown before the first. */
let lastMs = Infinity;

/**
 * Makes a file's content durable. Where flushes are almost free, one that a call waits for is done at once. Otherwise a
 * thread of Node's pool waits for the disk.
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

export interface FileFacts {
  isFile(): boolean;
  isSymbolicLink(): boolean;
  readonly nlink: bigint;
  readonly size: bigint;
}

/**
 * Throws `STORAGE_UNSAFE` unless the file is plain: regular, with one name on the disk, and at most `bytesMax` bytes. A
 * second name can be another user's, and a giant can be sparse.
 */
export function checkPlainFile(facts: FileFacts, shown: string, bytesMax: number = storeLimits.fileBytesMax): void {
  checkRegularFile(facts, shown);
  const refusal = whyUnsafe(facts, bytesMax);
  if (refusal) throw new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(shown)}: ${refusal}`);
}

export function measuredFrom(facts: FileFacts & { readonly ctimeNs: bigint; readonly mtimeNs: bigint }): Measured {
  return {
    bytes: Number(facts.size),
    names: Number(facts.nlink),
    isPlain: isPlainFile(facts),
    changedUs: inUs(facts.ctimeNs),
    writtenUs: inUs(facts.mtimeNs),
  };
}

/** Whether `checkPlainFile` accepts it. */
export const isPlainFile = (facts: FileFacts): boolean =>
  facts.isFile() && whyUnsafe(facts, storeLimits.fileBytesMax) === null;

export const inUs = (ns: bigint): number => Number(ns / 1_000n);

/** Throws `STORAGE_UNSAFE` unless the file is regular. */
export function checkRegularFile(facts: FileFacts, shown: string): void {
  if (facts.isFile()) return;
  const refusal = facts.isSymbolicLink() ? linkInPlace : notRegular;
  throw new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(shown)}: ${refusal}`);
}

function whyUnsafe({ nlink, size }: FileFacts, bytesMax: number): string | null {
  if (nlink !== 1n) return `it has ${nlink} names on the disk, only 1 is allowed`;
  if (size > bytesMax) return `it is ${size} bytes, at most ${bytesMax} allowed`;
  return null;
}
