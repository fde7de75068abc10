/** Files of a bounded size: plugins, policies, settings, keys and zip files. */
import { constants, lstat, open, readdir, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

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

/** Reads a file of at most `bytesMax` bytes, and nothing of a larger one. Rejects if it cannot be read. */
export async function readBoundedFile(file: string, bytesMax: number): Promise<BoundedBytes> {
  // Without O_NONBLOCK, opening a FIFO waits for somebody to write into it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  // Not `await using`: the handles of Yarn's Plug'n'Play cannot be disposed of.
  return await readHandle(handle, bytesMax).finally(() => handle.close());
}

async function readHandle(handle: FileHandle, bytesMax: number): Promise<BoundedBytes> {
  const facts = await handle.stat();
  if (!facts.isFile()) return { kind: "unfit", reason: "it is not a regular file" };
  if (facts.size > bytesMax) {
    return { kind: "unfit", reason: `it is ${facts.size} bytes, at most ${bytesMax} allowed` };
  }
  // Reads only the size that was checked, even if the file grows meanwhile.
  const content = new Uint8Array(facts.size);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(content, filled, content.length - filled, filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === content.length) return { kind: "bytes", bytes: content.subarray(0, filled) };
  }
}
