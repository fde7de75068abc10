import { isUtf8 } from "node:buffer";

import type { MemoryFile } from "../values/memory-file.ts";

/** The bytes of an export as JSON, piece by piece: a file a line, with its text, or with its bytes in base64. */
export async function* jsonOf(files: readonly MemoryFile[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"memcell":1,"files":[');
  for (const [at, { scope, path, content, trust }] of files.entries()) {
    const bytes = Buffer.from(content);
    const told = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
    yield Buffer.from(`${at === 0 ? "" : ","}\n${JSON.stringify({ scope, path, ...told, trust })}`);
  }
  yield Buffer.from("\n]}\n");
}
