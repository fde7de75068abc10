/** What a family tells of its entries, made to fit into what a call may answer. */
import { callLimits } from "../shared/limits.ts";
import type { EntriesOutput } from "../shared/roles.ts";
import { utf8Bytes } from "../shared/text.ts";

type ListedEntry = EntriesOutput["entries"][number];

/** What stands around the entries in an answer takes 60 bytes. */
const entriesBytesMax = callLimits.outputBytesMax - 256;

/** No description is cut to less. */
const leastCharsMax = 32;

/**
 * The entries as they are, if they fit. If not, all descriptions are cut to half of what they may be, or a quarter, an
 * eighth; and only when that is not enough, the last entries are left out.
 */
export function withinAnswer(whole: readonly ListedEntry[], descriptionCharsMax: number): ListedEntry[] {
  let entries = [...whole];
  let charsMax = descriptionCharsMax;
  while (bytesOf(entries) > entriesBytesMax && charsMax > leastCharsMax) {
    charsMax = Math.floor(charsMax / 2);
    entries = whole.map(({ name, description }) => ({ name, description: cutTo(charsMax, description) }));
  }
  while (bytesOf(entries) > entriesBytesMax) entries = entries.slice(0, Math.floor(entries.length * 0.9));
  return entries;
}

const bytesOf = (entries: readonly ListedEntry[]): number => utf8Bytes(JSON.stringify(entries));

function cutTo(charsMax: number, description: string): string {
  const chars = Array.from(description);
  return chars.length <= charsMax ? description : `${chars.slice(0, charsMax - 1).join("")}…`;
}
