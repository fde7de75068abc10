import { hash } from "node:crypto";

/** What tells one content of a file from another: SHA-256 in hexadecimal digits; `null` for a file that is not there. */
export function digestOf(content: Uint8Array | null): string | null {
  return content && hash("sha256", content);
}
