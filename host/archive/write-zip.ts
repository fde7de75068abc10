/** Writes memory files as a zip file. Only this file imports yazl. */
import type { Readable } from "node:stream";

import { ZipFile } from "yazl";

import type { MemoryFile } from "../values/memory-file.ts";
import { giveTurn } from "../values/turns.ts";
import { entriesOf } from "./about-entries.ts";

/**
 * The bytes of a zip file, piece by piece. The same files give the same bytes on every machine: all have the earliest
 * time that a zip file can hold, and none is compressed, because a compressor's bytes depend on its version.
 */
export async function* zipOf(files: readonly MemoryFile[]): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const adding = addAll(zip, files).catch((error: Error) => void (zip.outputStream as Readable).destroy(error));
  yield* zip.outputStream as AsyncIterable<Uint8Array>;
  await adding;
}

/** Each file is hashed as it is added, so others have turns in between. */
async function addAll(zip: ZipFile, files: readonly MemoryFile[]): Promise<void> {
  // Local time, as the format uses it, so it is written the same in every time zone.
  const options = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100600, compress: false };
  for (const [name, { buffer, byteOffset, byteLength }] of entriesOf(files)) {
    await giveTurn();
    zip.addBuffer(Buffer.from(buffer, byteOffset, byteLength), name, options);
  }
  zip.end();
}
