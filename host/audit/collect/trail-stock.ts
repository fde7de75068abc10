import { clearTrail, trailBytes } from "./trail-layout.ts";

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
