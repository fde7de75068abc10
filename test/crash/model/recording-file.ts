import type { DiskFile } from "../../../host/disk/directory.ts";
import type { EffectLog } from "./effect-log.ts";

/** A real file that records its changes. */
export class RecordingFile implements DiskFile {
  readonly #log: EffectLog;
  readonly #real: DiskFile;
  readonly #id: number;
  readonly #name: string;

  constructor(log: EffectLog, real: DiskFile, { id, name }: { id: number; name: string }) {
    this.#log = log;
    this.#real = real;
    this.#id = id;
    this.#name = name;
  }

  get identity(): string {
    return `1:${this.#id}`;
  }

  get descriptor(): number {
    return this.#real.descriptor;
  }

  size(): number {
    return this.#real.size();
  }

  read(at: number, length: number): Buffer {
    return this.#real.read(at, length);
  }

  write(at: number, bytes: Uint8Array): void {
    this.#real.write(at, bytes);
    this.#log.add({ kind: "write", file: this.#id, at, bytes: Buffer.from(bytes) });
  }

  setWritten(): void {
    throw new Error("No model copies a home");
  }

  truncate(bytes: number): void {
    this.#real.truncate(bytes);
    this.#log.add({ kind: "truncate", file: this.#id, bytes });
  }

  async flush(): Promise<void> {
    // Throws on a closed file, like the real flush.
    this.#real.size();
    await this.#log.flush({ kind: "file", id: this.#id }, this.#name);
  }

  flushNow(): void {
    throw new Error("Nothing ends the process of a model");
  }

  [Symbol.dispose](): void {
    this.#real[Symbol.dispose]();
  }
}
