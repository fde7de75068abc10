/**
 * How a call's trail lies in shared memory, which a thread writes and the side that nobody kills reads: words of four
 * bytes, then what went well, then what was refused.
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

const headerBytes = 32;
const usesAt = headerBytes;
const refusalsAt = usesAt + trailLimits.usesBytes;

export const trailBytes: number = refusalsAt + trailLimits.refusalsMax * trailLimits.refusalBytes;

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
