import type { DiskFile } from "../../../host/store/files/disk/directory.ts";
import type { Recording } from "./recording.ts";

/** A real file, whose changes are written down. */
export class RecordingFile implements DiskFile {
  readonly #recording: Recording;
  readonly #real: DiskFile;
  readonly #id: number;
  readonly #name: string;

  constructor(recording: Recording, real: DiskFile, { id, name }: { id: number; name: string }) {
    this.#recording = recording;
    this.#real = real;
    this.#id = id;
    this.#name = name;
  }

  get identity(): string {
    return this.#real.identity;
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
    this.#recording.add({ kind: "write", file: this.#id, at, bytes: Buffer.from(bytes) });
  }

  truncate(bytes: number): void {
    this.#real.truncate(bytes);
    this.#recording.add({ kind: "truncate", file: this.#id, bytes });
  }

  async flush(): Promise<void> {
    // As the real one: a closed file refuses to be flushed.
    this.#real.size();
    await this.#recording.flush({ kind: "file", id: this.#id }, this.#name);
  }

  [Symbol.dispose](): void {
    this.#real[Symbol.dispose]();
  }
}
