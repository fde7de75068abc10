import type { MemoryFile } from "memcell";

import { zipOf } from "../stage/archive.ts";

/** An export as one piece. */
export async function zippedBytes(files: readonly MemoryFile[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of zipOf(files)) pieces.push(piece);
  return Buffer.concat(pieces);
}
