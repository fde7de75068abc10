/** Bytes in JSON: as text if they are UTF-8, which people can read, else in base64. */
import { isUtf8 } from "node:buffer";

import * as z from "../../shared/zod.ts";

export const storedBytesSchema = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string() }),
]);

export type StoredBytes = z.infer<typeof storedBytesSchema>;

export const encodeBytes = (bytes: Buffer): StoredBytes =>
  isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };

/**
 * The same in JSON's bytes. A text is escaped as Latin-1, in which each byte is one character and stays itself: to decode
 * UTF-8 and encode it again takes ten times as long.
 */
export const jsonOfBytes = (bytes: Buffer): Buffer =>
  isUtf8(bytes)
    ? Buffer.from(JSON.stringify({ text: bytes.toString("latin1") }), "latin1")
    : Buffer.from(JSON.stringify({ base64: bytes.toString("base64") }));

export const decodeBytes = (stored: StoredBytes): Buffer =>
  "text" in stored ? Buffer.from(stored.text) : Buffer.from(stored.base64, "base64");
