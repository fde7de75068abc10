/** Plugin files as they lie on disk, before anything is known of what is in them. */
import { constants, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The plugin files of a folder, in the order of their names. */
export async function listPluginFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith(".wasm"))
    .toSorted()
    .map((name) => join(folder, name));
}

/** Whether anything has this name: a link that leads nowhere has one, though nothing can be opened by it. */
export async function isNameTaken(file: string): Promise<boolean> {
  return await lstat(file).then(
    () => true,
    () => false,
  );
}

/** How a plugin file was found. */
export type PluginBytes =
  | { readonly kind: "bytes"; readonly wasm: Uint8Array }
  | { readonly kind: "unfit"; readonly reason: string };

/** Reads a file that is no larger than allowed, and nothing of one that is. Rejects when it cannot be read. */
export async function readPluginFile(file: string, bytesMax: number): Promise<PluginBytes> {
  // Without O_NONBLOCK, opening a FIFO waits for somebody to write into it.
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await handle.stat();
  if (!stat.isFile()) return { kind: "unfit", reason: "it is no regular file" };
  if (stat.size > bytesMax) {
    return { kind: "unfit", reason: `it is ${stat.size} bytes, at most ${bytesMax} allowed` };
  }
  // What is added while it is read is not part of it: the size that was checked is what is read.
  const wasm = new Uint8Array(stat.size);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(wasm, filled, wasm.length - filled, filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === wasm.length) return { kind: "bytes", wasm: wasm.subarray(0, filled) };
  }
}
