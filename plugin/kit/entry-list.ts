/** Shortens a family's list of entries until it fits into an answer. */
import { callLimits } from "../../shared/limits.ts";
import type { EntriesOutput } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";

type ListedEntry = EntriesOutput["entries"][number];

/** The rest of an answer takes 60 bytes. */
const entriesBytesMax = callLimits.outputBytesMax - 256;

/** Descriptions are halved again while they can be longer than this. */
const leastCharsMax = 32;

/**
 * Returns the entries unchanged if they fit. Otherwise it cuts all descriptions to a half, a quarter, … of
 * `descriptionCharsMax`; if that is not enough, it leaves out the paths, and then the last entries.
 */
export function withinAnswer(whole: readonly ListedEntry[], descriptionCharsMax: number): ListedEntry[] {
  let entries = [...whole];
  let charsMax = descriptionCharsMax;
  while (bytesOf(entries) > entriesBytesMax && charsMax > leastCharsMax) {
    charsMax = Math.floor(charsMax / 2);
    entries = whole.map((entry) => ({ ...entry, description: cutTo(charsMax, entry.description) }));
  }
  // An entry can be read by its name alone.
  if (bytesOf(entries) > entriesBytesMax) entries = entries.map(({ name, description }) => ({ name, description }));
  while (bytesOf(entries) > entriesBytesMax) entries = entries.slice(0, Math.floor(entries.length * 0.9));
  return entries;
}

const bytesOf = (entries: readonly ListedEntry[]): number => utf8Bytes(JSON.stringify(entries));

function cutTo(charsMax: number, description: string): string {
  const chars = Array.from(description);
  return chars.length <= charsMax ? description : `${chars.slice(0, charsMax - 1).join("")}…`;
}
