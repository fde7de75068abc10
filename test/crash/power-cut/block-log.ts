/** What a logged disk was asked to do, in order, with the caller's marks between. `logged-disk.c` says how it is kept. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";

import type { FileSystemKind } from "./file-systems.ts";
import type { SparseImage } from "./sparse-image.ts";

export interface BlockWrite {
  readonly kind: "write";
  /** In bytes from the disk's beginning. */
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
  /** How many records the log held at least when the mark was set. */
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

  /** As of the last mark. A position in the log is a number of records: the disk has been asked for all before it. */
  get records(): readonly BlockRecord[] {
    return this.#records;
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /** Inserts a mark behind all that the disk has answered until now, and returns its position. */
  mark(label: string): number {
    this.#readOn();
    const position = this.#records.length;
    this.#marks.push({ label, position });
    return position;
  }

  /** The labels of all marks that had been set when the power went at this position. */
  marksBefore(position: number): string[] {
    return this.#marks.filter((mark) => mark.position <= position).map((mark) => mark.label);
  }

  /** Leaves a record whose end is not there yet for the next time: its request has not been answered. */
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
