import type { MemoryFile } from "memcell";

import { zipOf } from "../stage/archive.ts";

/** An export as one piece. */
export async function zippedBytes(files: readonly MemoryFile[]): Promise<Buffer> {
  async function* contents(): AsyncGenerator<MemoryFile> {
    yield* files;
  }
  const pieces: Uint8Array[] = [];
  const listed = files.map(({ content, ...file }) => ({ ...file, bytes: content.length }));
  for await (const piece of zipOf({ files: listed, contents })) pieces.push(piece);
  return Buffer.concat(pieces);
}
