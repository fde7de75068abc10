/**
 * The layout of a thread's trail in shared memory, which the worker thread writes and the main thread reads: words of
 * four bytes, the thread's start time, the region of successful uses, the region of refused ones.
 */
import { trailLimits } from "../../../shared/limits.ts";

/** The indexes of the words at the beginning. */
export const words = {
  /** 1 once the call has ended. */
  closed: 0,
  /** How many bytes of each region are written. */
  usesEnd: 1,
  refusalsEnd: 2,
  /** How many successful uses had no room: reads and lists here, changes below. */
  looksNotShown: 3,
  changesNotShown: 4,
  denied: 5,
  failed: 6,
} as const;

/** When the thread began the task, in nanoseconds of the clock that all threads share; 0 before. */
const beganAt = 32;

const headerBytes = 40;
const usesAt = headerBytes;
const refusalsAt = usesAt + trailLimits.usesBytes;

const trailBytes = refusalsAt + trailLimits.refusalsMax * trailLimits.refusalBytes;

/** A trail. A thread has one, and both sides of it make their views once. */
export interface Trail {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
  readonly bytes: Buffer;
  readonly began: BigInt64Array;
}

export const viewsOf = (memory: SharedArrayBuffer): Trail => ({
  memory,
  words: new Int32Array(memory),
  bytes: Buffer.from(memory),
  began: new BigInt64Array(memory, beganAt, 1),
});

/** A trail of its own memory, open and empty. */
export const newTrail = (): Trail => viewsOf(new SharedArrayBuffer(trailBytes));

/** Called by the worker thread when it begins the task. The main thread reads the time without a message. */
export function stampStart({ began }: Trail): void {
  Atomics.store(began, 0, process.hrtime.bigint());
}

/** How long the task has been running, in milliseconds; `null` before it runs. */
export function runningMs({ began }: Trail): number | null {
  const beganNs = Atomics.load(began, 0);
  return beganNs === 0n ? null : Number(process.hrtime.bigint() - beganNs) / 1e6;
}

/** After this the guest gets no more answers. */
export function closeTrail({ words: all }: Trail): void {
  Atomics.store(all, words.closed, 1);
}

/** Resets the trail for another call, while its thread has none. Bytes after the regions' ends are never read. */
export function clearTrail({ words: all }: Trail): void {
  all.fill(0, 0, headerBytes / 4);
}

/** Where each region begins and ends. */
export const regions = {
  uses: { start: usesAt, end: refusalsAt, endWord: words.usesEnd },
  refusals: { start: refusalsAt, end: trailBytes, endWord: words.refusalsEnd },
} as const;

/** Each entry begins with two words: the bytes of its text, and the bytes of the file. */
export const entryHeadBytes = 8;

/** Rounds up to a multiple of a word's size, because each entry begins with a word. */
export const aligned = (bytes: number): number => (bytes + 3) & ~3;

/** The second word of an entry when the file does not exist. */
export const noFile = -1;
