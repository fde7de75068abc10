/** Bytes as they come, cut into lines. What is held is at most one line's beginning, and never longer than allowed. */
export class LineBuffer {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that `chunk` ends, without line feeds. Throws a `RangeError` for a line that is too long. */
  *take(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#hold(chunk.subarray(from, at));
      from = at + 1;
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      if (line) yield line;
    }
    this.#hold(chunk.subarray(from));
  }

  #hold(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#bytesMax) {
      this.#parts = [];
      throw new RangeError(`a line is longer than ${this.#bytesMax} bytes`);
    }
    if (part.length > 0) this.#parts.push(part);
  }
}
