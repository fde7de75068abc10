/** The content of a disk in memory. Copies share their unchanged chunks, so each state costs only its changes. */
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

const chunkBytes = 64 * 1024;
const zeros = Buffer.alloc(chunkBytes);

export class SparseImage {
  readonly #bytes: number;
  /** The chunks by number. A missing chunk is all zeros. */
  readonly #chunks: Map<number, Buffer>;
  /** The chunks that no copy shares. They may be changed in place. */
  readonly #unshared = new Set<number>();

  private constructor(bytes: number, chunks: Map<number, Buffer>) {
    this.#bytes = bytes;
    this.#chunks = chunks;
  }

  static fromFile(path: string, bytes: number): SparseImage {
    const chunks = new Map<number, Buffer>();
    const file = openSync(path, "r");
    try {
      for (let number = 0; number * chunkBytes < bytes; number++) {
        const chunk = Buffer.alloc(chunkBytes);
        readSync(file, chunk, 0, chunkBytes, number * chunkBytes);
        if (!chunk.equals(zeros)) chunks.set(number, chunk);
      }
    } finally {
      closeSync(file);
    }
    return new SparseImage(bytes, chunks);
  }

  copy(): SparseImage {
    this.#unshared.clear();
    return new SparseImage(this.#bytes, new Map(this.#chunks));
  }

  write(offset: number, data: Buffer): void {
    let done = 0;
    while (done < data.length) {
      const number = Math.floor((offset + done) / chunkBytes);
      const start = (offset + done) % chunkBytes;
      done += data.copy(this.#changeable(number), start, done);
    }
  }

  /** Writes a file with holes where the disk is zero. */
  writeTo(path: string): void {
    const file = openSync(path, "w");
    try {
      ftruncateSync(file, this.#bytes);
      for (const [number, chunk] of this.#chunks) {
        writeSync(file, chunk, 0, Math.min(chunkBytes, this.#bytes - number * chunkBytes), number * chunkBytes);
      }
    } finally {
      closeSync(file);
    }
  }

  #changeable(number: number): Buffer {
    const present = this.#chunks.get(number);
    if (present && this.#unshared.has(number)) return present;
    const chunk = present ? Buffer.from(present) : Buffer.alloc(chunkBytes);
    this.#chunks.set(number, chunk);
    this.#unshared.add(number);
    return chunk;
  }
}
