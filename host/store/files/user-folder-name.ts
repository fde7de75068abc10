import { createHash } from "node:crypto";

import { storeLimits } from "../../../shared/limits.ts";
import type { UserId } from "../../values/user-id.ts";

/** Device names on Windows, with any ending. Windows cannot create such a folder. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * The name of a user's folder: different ids never share one.
 *
 * Characters outside `[A-Za-z0-9._@-]` are percent-encoded byte by byte, as is a dot at either end and the first
 * character of a device's name. If the encoded id is too long for a file system, it is cut and ends in `%~` and the
 * id's SHA-256. No percent-encoding contains `%~`, so no other id has such a name.
 */
export function userFolderName(userId: UserId): string {
  const characters = Array.from(userId);
  const isDevice = deviceName.test(userId);
  const encoded = characters
    .map((character, at) => {
      const isEnd = at === 0 || at === characters.length - 1;
      return (isEnd && character === ".") || (isDevice && at === 0) ? percent(character) : encode(character);
    })
    .join("");
  if (encoded.length <= storeLimits.folderNameBytesMax) return encoded;
  const digest = createHash("sha256").update(userId).digest("hex");
  const mark = `%~${digest}`;
  return encoded.slice(0, storeLimits.folderNameBytesMax - mark.length) + mark;
}

const encode = (character: string): string => (/^[A-Za-z0-9._@-]$/.test(character) ? character : percent(character));

function percent(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
