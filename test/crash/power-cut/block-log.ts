/** The requests to a logged disk, in order, and the caller's marks between them. `logged-disk.c` defines the format. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";

import type { FileSystemKind } from "./file-systems.ts";
import type { SparseImage } from "./sparse-image.ts";

export interface BlockWrite {
  readonly kind: "write";
  /** In bytes from the start of the disk. */
  readonly offset: number;
  readonly data: Buffer;
}

/** Every write before it is permanent. */
export interface BlockFlush {
  readonly kind: "flush";
}

export type BlockRecord = BlockWrite | BlockFlush;

export interface Mark {
  readonly label: string;
  /** The least number of records that the log held when the mark was set. */
  readonly position: number;
}

const headBytes = 16;
const flushKind = 2;

export class BlockLog {
  readonly fileSystem: FileSystemKind;
  /** The disk before the first record. */
  readonly start: SparseImage;
  readonly #path: string;
  readonly #records: BlockRecord[] = [];
  readonly #marks: Mark[] = [];
  #readBytes = 0;

  constructor(path: string, fileSystem: FileSystemKind, start: SparseImage) {
    if (endianness() !== "LE") throw new Error("Cannot read a block log: only little-endian machines are known");
    this.#path = path;
    this.fileSystem = fileSystem;
    this.start = start;
  }

  /** The records up to the last mark. A position in the log is a number of records: those before it were requested. */
  get records(): readonly BlockRecord[] {
    return this.#records;
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /** Inserts a mark after everything that the disk has answered, and returns its position. */
  mark(label: string): number {
    this.#readOn();
    const position = this.#records.length;
    this.#marks.push({ label, position });
    return position;
  }

  /** The labels of all marks before a power cut at this position. */
  marksBefore(position: number): string[] {
    return this.#marks.filter((mark) => mark.position <= position).map((mark) => mark.label);
  }

  /** Reads further complete records. An incomplete one waits for the next time: its request is not answered yet. */
  #readOn(): void {
    const tail = this.#readTail();
    let at = 0;
    while (at + headBytes <= tail.length) {
      const end = at + headBytes + tail.readUInt32LE(at + 4);
      if (end > tail.length) break;
      this.#records.push(
        tail.readUInt32LE(at) === flushKind
          ? { kind: "flush" }
          : { kind: "write", offset: Number(tail.readBigUInt64LE(at + 8)), data: tail.subarray(at + headBytes, end) },
      );
      at = end;
    }
    this.#readBytes += at;
  }

  #readTail(): Buffer {
    const file = openSync(this.#path, "r");
    try {
      const tail = Buffer.alloc(fstatSync(file).size - this.#readBytes);
      return tail.subarray(0, readSync(file, tail, 0, tail.length, this.#readBytes));
    } finally {
      closeSync(file);
    }
  }
}
