/** Files of a bounded size: plugins, policies, settings, keys and zip files. */
import type { Stats } from "node:fs";
import { constants, lstat, open, readdir, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

import { notRegular } from "./disk-failure.ts";

/** The files of a folder with this ending, in the order of their names. */
export async function listFilesEnding(ending: string, folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name));
}

/** Whether anything has this name, even a link that leads nowhere. */
export async function isNameTaken(file: string): Promise<boolean> {
  return await lstat(file).then(
    () => true,
    () => false,
  );
}

export async function isFolder(name: string): Promise<boolean> {
  return await stat(name).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** A file's bytes, or why it cannot be used. */
export type BoundedBytes =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "unfit"; readonly reason: string };

/** Reads a file of at most `bytesMax` bytes, and nothing of a larger one. Rejects if it cannot be read. `flags`: more of `open`. */
export async function readBoundedFile(file: string, bytesMax: number, flags?: number): Promise<BoundedBytes> {
  const opened = await OpenFile.open(file, flags);
  // Not `await using`: the handles of Yarn's Plug'n'Play cannot be disposed of.
  return await readOpened(opened, bytesMax).finally(() => opened.close());
}

async function readOpened(opened: OpenFile, bytesMax: number): Promise<BoundedBytes> {
  const { isRegular, bytes } = opened;
  if (!isRegular) return { kind: "unfit", reason: notRegular };
  if (bytes > bytesMax) return { kind: "unfit", reason: `it is ${bytes} bytes, at most ${bytesMax} allowed` };
  return { kind: "bytes", bytes: await opened.read(0, bytes) };
}

/** An open file, of which parts are read. Whoever opens it has to close it. */
export class OpenFile {
  readonly isRegular: boolean;
  /** As long as it was when it was opened. What is behind that is never read. */
  readonly bytes: number;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, facts: Stats) {
    this.#handle = handle;
    this.isRegular = facts.isFile();
    this.bytes = facts.size;
  }

  static async open(file: string, flags = 0): Promise<OpenFile> {
    // Without O_NONBLOCK, opening a FIFO waits for somebody to write into it.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    try {
      return new OpenFile(handle, await handle.stat());
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A part of it; less if it ends before. */
  async read(at: number, bytes: number): Promise<Buffer> {
    const part = Buffer.alloc(Math.max(0, Math.min(bytes, this.bytes - at)));
    let filled = 0;
    while (filled < part.length) {
      const { bytesRead } = await this.#handle.read(part, filled, part.length - filled, at + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return part.subarray(0, filled);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
