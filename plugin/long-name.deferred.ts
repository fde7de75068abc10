/** SHA-256, loaded only for texts that make too long a name. The only file that imports `@noble/hashes`. */
import { sha256 } from "@noble/hashes/sha2.js";

export function hashName(id: string): string {
  const bytes = sha256(new TextEncoder().encode(id));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
