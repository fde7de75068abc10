import { isUtf8 } from "node:buffer";

import type { MemoryFile } from "../values/memory-file.ts";

/** The bytes of an export as JSON, piece by piece: a file a line, with its text, or with its bytes in base64. */
export async function* jsonOf(files: AsyncIterable<MemoryFile>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"memcell":1,"files":[');
  let separator = "\n";
  for await (const { scope, path, content, trust } of files) {
    const bytes = Buffer.from(content);
    const told = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
    yield Buffer.from(separator + JSON.stringify({ scope, path, ...told, trust }));
    separator = ",\n";
  }
  yield Buffer.from("\n]}\n");
}
