/** Files of a folder that is held open: opens them, reads and writes them by their descriptors, and says what they show. */
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  openSync,
  readSync,
  statfsSync,
  writeSync,
} from "node:fs";
import type { BigIntStats } from "node:fs";
import { release } from "node:os";
import { promisify } from "node:util";

import { storeLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";
import type { DiskFile, FileStamp, FileUse, Measured } from "./directory.ts";
import { failureOfDisk, failureOfFile, isMissing, linkInPlace, notRegular, systemCode } from "./disk-failure.ts";
import { giveToOwnerOf, identityOf } from "./folder-handle.ts";
import type { FileIdentity, FolderHandle } from "./folder-handle.ts";

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Opening never follows a link and never waits, not even for the other end of a pipe. */
const safely = O_NOFOLLOW | O_NONBLOCK;
const openFlags: Readonly<Record<Exclude<FileUse, "make">, number>> = {
  read: O_RDONLY | safely,
  write: O_RDWR | safely,
  // Only Windows needs write permission for a flush. A person can have taken that permission away.
  flush: (process.platform === "win32" ? O_RDWR : O_RDONLY) | safely,
  lock: O_RDWR | safely,
};

interface Opening {
  /** How messages name the file. */
  readonly shown: string;
  readonly use: FileUse;
  /** Throws for a file that must not be used. Default: for one that is not plain. */
  readonly check?: (facts: BigIntStats) => void;
}

/** `at` says where the file of a checked name is. `null` if there is none and `use` does not make it. */
export function openPinned(folder: FolderHandle, at: () => string, { shown, use, check }: Opening): PinnedFile | null {
  let descriptor: number | undefined;
  try {
    const path = at();
    descriptor = use === "make" ? openOrMake(folder, path) : openSync(path, openFlags[use]);
    const facts = fstatSync(descriptor, { bigint: true });
    if (check === undefined) checkPlainFile(facts, shown);
    else check(facts);
    folder.checkOpened(path, facts);
    return new PinnedFile(descriptor, facts, shown);
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    if (isMissing(error) && use !== "make") return null;
    throw failureOfFile(error, shown);
  }
}

/**
 * Opens a file, and makes it if there is none. Only what this has made gets another owner: a file in its place can be
 * anybody's.
 */
export function openOrMake(folder: FolderHandle, path: string): number {
  for (let attempt = 1; ; attempt++) {
    try {
      return openSync(path, openFlags.write);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    try {
      return openNew(folder, path);
    } catch (error) {
      // Somebody else has made it meanwhile.
      if (systemCode(error) !== "EEXIST" || attempt === attemptsMax) throw error;
    }
  }
}

const attemptsMax = 3;

/** Opens a file that must not exist yet; only its owner can use it. Returns its descriptor. */
export function openNew(folder: FolderHandle, path: string): number {
  const descriptor = openSync(path, openFlags.write | O_CREAT | O_EXCL, 0o600);
  try {
    // A new file is plain, and nobody else's.
    if (!folder.isHeldOpen) folder.checkOpened(path, fstatSync(descriptor, { bigint: true }));
    giveToOwnerOf(folder, { descriptor });
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

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

/**
 * What a file's times show. Two equal stamps mean the same content, so a file that was read need not be read again to see
 * that nobody has changed it. There is a stamp only where that is sure.
 */
export interface StampFacts {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/**
 * How a file system notes a change. `each`: a change behind a look at the file gets a time of its own. `tick`: it gets the
 * time of the system's last tick, so two changes within 10 ms at most can have the same. `unknown`: any other way.
 */
export type TimesOfDisk = "each" | "tick" | "unknown";

/** The kernel's numbers of the file systems that keep times in nanoseconds: ext4, xfs, btrfs, tmpfs. */
const fineKinds: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994]);

/** Linux notes each change since 6.13. */
const [major = 0, minor = 0] = release().split(".").map(Number);
const fineTimes: TimesOfDisk = major > 6 || (major === 6 && minor >= 13) ? "each" : "tick";

/** `folder`: a path on the disk. */
export function timesOfDisk(folder: string): TimesOfDisk {
  if (process.platform !== "linux") return "unknown";
  try {
    return fineKinds.has(statfsSync(folder).type) ? fineTimes : "unknown";
  } catch {
    return "unknown";
  }
}

/** Twice the longest tick. */
const youngMs = 20;
const secondNs = 1_000_000_000n;

/** `null` if the times could stay the same although the content changes. */
export function stampFrom(
  { dev, ino, size, mtimeNs, ctimeNs }: StampFacts,
  times: TimesOfDisk,
  nowMs: number = Date.now(),
): FileStamp | null {
  // Some disks of these kinds keep whole seconds only.
  if (times === "unknown" || ctimeNs % secondNs === 0n) return null;
  // Also if the clock was set back.
  if (times === "tick" && !(nowMs - Number(ctimeNs / 1_000_000n) > youngMs)) return null;
  return { text: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`, bytes: Number(size) };
}
