import { createHash } from "node:crypto";

import { storeLimits } from "../../../shared/limits.ts";
import type { UserId } from "../../user-id.ts";

/**
 * The folder of a user: distinct ids never share one.
 *
 * Characters outside `[A-Za-z0-9._@-]` are percent-encoded byte by byte, as is a dot at either end. An id whose
 * encoding would be longer than a file system's name goes on with `%~` and its SHA-256 instead; `%~` begins no
 * percent-encoding, so such a name is no other id's.
 */
export function userFolderName(userId: UserId): string {
  const encoded = Array.from(userId, (character, at) => encode(character, at === 0 || isLast(userId, at))).join("");
  if (encoded.length <= storeLimits.folderNameBytesMax) return encoded;
  const digest = createHash("sha256").update(userId).digest("hex");
  const mark = `%~${digest}`;
  return encoded.slice(0, storeLimits.folderNameBytesMax - mark.length) + mark;
}

const isLast = (text: string, at: number): boolean => at === Array.from(text).length - 1;

function encode(character: string, isAtEnd: boolean): string {
  const isPlain = /^[A-Za-z0-9._@-]$/.test(character);
  if (isPlain && !(character === "." && isAtEnd)) return character;
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
