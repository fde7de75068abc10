/** SHA-256, loaded only for texts that make too long a name. The only file that imports `@noble/hashes`. */
import { sha256 } from "@noble/hashes/sha2.js";

/** Of this call: a hash takes the guest two milliseconds, and a path is made several times. */
const known = new Map<string, string>();

export function hashName(id: string): string {
  const name = known.get(id) ?? hexOf(sha256(new TextEncoder().encode(id.normalize("NFC"))));
  known.set(id, name);
  return name;
}

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
