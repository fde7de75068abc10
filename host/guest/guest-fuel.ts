/**
 * The polls that a guest has left, in its own global: the one that enforces its fuel, and no more trustworthy than that.
 */
export class GuestFuel {
  readonly #left: WebAssembly.Global | null;
  readonly #pollsMax: number;
  /** What the call has used before it was refuelled. */
  #pollsSpent = 0;

  /** `exported`: what the plugin exports as its counter; anything else if it has none. */
  constructor(exported: unknown, pollsMax: number) {
    this.#left = exported instanceof WebAssembly.Global ? exported : null;
    this.#pollsMax = pollsMax;
  }

  get isCounted(): boolean {
    return this.#left !== null;
  }

  /** The polls that the present call has used; `null` if the plugin does not count them. */
  get pollsUsed(): number | null {
    if (this.#left === null) return null;
    return this.#pollsSpent + Math.min(Math.max(this.#pollsMax - Number(this.#left.value), 0), this.#pollsMax);
  }

  beginCall(): void {
    this.#pollsSpent = 0;
  }

  /** Ends the guest at its next poll. */
  take(): void {
    if (this.#left !== null) this.#left.value = 0;
  }

  /** Gives the guest a call's fuel again, unless it has none left. */
  refill(): void {
    if (this.#left === null || Number(this.#left.value) <= 0) return;
    this.#pollsSpent = this.pollsUsed ?? 0;
    this.#left.value = this.#pollsMax;
  }
}
