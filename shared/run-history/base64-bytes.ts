/** Bytes as base64, for programs. The guest has no `Buffer`. */
import { isBase64 } from "./base64.ts";

export const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** `null` if the text is not standard base64 with padding. */
export const bytesOf = (text: string): Uint8Array | null =>
  isBase64(text) ? Uint8Array.from(Buffer.from(text, "base64")) : null;
