/**
 * How a call's trail lies in shared memory, which a thread writes and the side that nobody kills reads: words of four
 * bytes, the time at which the thread has begun, then what went well, then what was refused.
 */
import { trailLimits } from "../../../shared/limits.ts";

/** What the words at the beginning count. */
export const words = {
  /** 1 from the moment at which the call has ended. */
  closed: 0,
  /** Bytes written of each region; what lies behind is not there yet. */
  usesEnd: 1,
  refusalsEnd: 2,
  /** Uses that found no room: of those that only look, and of those that stage a change. */
  looksNotShown: 3,
  changesNotShown: 4,
  denied: 5,
  failed: 6,
} as const;

/** When the thread has begun, in nanoseconds of the clock that all threads have in common; 0 before it has. */
const beganAt = 32;

const headerBytes = 40;
const usesAt = headerBytes;
const refusalsAt = usesAt + trailLimits.usesBytes;

export const trailBytes: number = refusalsAt + trailLimits.refusalsMax * trailLimits.refusalBytes;

const beganOf = (memory: SharedArrayBuffer): BigInt64Array => new BigInt64Array(memory, beganAt, 1);

/** Told without a message: the thread that takes the task writes it, and the other side looks. */
export function stampStart(memory: SharedArrayBuffer): void {
  Atomics.store(beganOf(memory), 0, process.hrtime.bigint());
}

/** For how many milliseconds the task has been running; `null` before it does. */
export function runningMs(memory: SharedArrayBuffer): number | null {
  const beganNs = Atomics.load(beganOf(memory), 0);
  return beganNs === 0n ? null : Number(process.hrtime.bigint() - beganNs) / 1e6;
}

/** From here on the guest gets no answer any more. */
export function closeTrail(memory: SharedArrayBuffer): void {
  Atomics.store(new Int32Array(memory, 0, 1), words.closed, 1);
}

/** Makes memory as good as new. What lies behind the ends is never read. */
export function clearTrail(memory: SharedArrayBuffer): void {
  new Int32Array(memory, 0, headerBytes / 4).fill(0);
}

/** Where each region begins and ends. */
export const regions = {
  uses: { start: usesAt, end: refusalsAt, endWord: words.usesEnd },
  refusals: { start: refusalsAt, end: trailBytes, endWord: words.refusalsEnd },
} as const;

/** Each entry begins with two words: the bytes of its text, and the bytes of the file. */
export const entryHeadBytes = 8;

/** Entries begin where a word may. */
export const aligned = (bytes: number): number => (bytes + 3) & ~3;

/** In the second word of an entry: there was no file. */
export const noFile = -1;

export interface TrailViews {
  readonly words: Int32Array;
  readonly bytes: Buffer;
}

export const viewsOf = (memory: SharedArrayBuffer): TrailViews => ({
  words: new Int32Array(memory),
  bytes: Buffer.from(memory),
});

/** The memory of trails: one for each running call, used again by later ones. */
export class TrailStock {
  readonly #free: SharedArrayBuffer[] = [];

  /** Memory that holds nothing of a call before. */
  lease(): SharedArrayBuffer {
    return this.#free.pop() ?? new SharedArrayBuffer(trailBytes);
  }

  /** Of a thread that has answered. One that was killed may still be writing: its memory is not to come back. */
  giveBack(memory: SharedArrayBuffer): void {
    clearTrail(memory);
    this.#free.push(memory);
  }
}
