/**
 * Maps agent and run ids to folder names, one to one (`../kit/path-name.ts`). A name that gets too long ends in `_.x` and
 * the id's SHA-256; then only the file `run.json` knows the id.
 */
import { hashName } from "../kit/long-name.deferred.ts";
import { longMark, nameOf, textOf } from "../kit/path-name.ts";

/** Two names, and the longest file name with a trash stamp, fit into a path of 255 characters. */
const nameCharsMax = 100;

const shortenedChars = nameCharsMax - longMark.length - 64;

export function folderNameOf(id: string): string {
  const name = nameOf(id);
  if (name.length <= nameCharsMax) return name;
  const whole = name.slice(0, shortenedChars).replace(/_(\..?)?$/, "");
  return `${whole}${longMark}${hashName(id)}`;
}

/** Returns the id of a folder's name, or `null` for a name that no id has or that has been shortened. */
export function idOf(name: string): string | null {
  const id = textOf(name);
  return id !== null && folderNameOf(id) === name ? id : null;
}
