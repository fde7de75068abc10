/** A file with keys, which is read at the start: one JSON text, or a key in PEM. */
import { isUtf8 } from "node:buffer";

import { UnfitJson } from "../../../shared/strict-json.ts";
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { parsePlacedJson } from "../../values/json-place.ts";
import { httpLimits } from "./http-limits.ts";

/** Makes the error for a file that cannot be used. The message contains nothing from the file. */
export type Unusable = (why: string, cause?: unknown) => RangeError;

export async function readKeyFile(file: string, unusable: Unusable): Promise<string> {
  const read = await readBoundedFile(file, httpLimits.keyFileBytesMax).catch((cause: unknown) => {
    throw unusable("it cannot be read", cause);
  });
  if (read.kind === "unfit") throw unusable(read.reason);
  // With another character in place of a byte, a key would be another's.
  if (!isUtf8(read.bytes)) throw unusable("it is not UTF-8 text");
  return new TextDecoder().decode(read.bytes);
}

export function parseKeys(text: string, depthMax: number, unusable: Unusable): unknown {
  try {
    return parsePlacedJson(text, depthMax);
  } catch (error) {
    throw unusable(error instanceof UnfitJson ? `it ${error.message}` : "it is not JSON", error);
  }
}
