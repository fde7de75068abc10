import { fold } from "./fold.ts";
import { keyWeight } from "./ranking.ts";
import type { SearchedEntry } from "./searched.ts";
import { stemOf } from "./stem.ts";
import { wordsIn } from "./words.ts";

type Texts = Pick<SearchedEntry, "key" | "value">;

/** The stems of an entry, and how often each occurs. A word in the key counts several times. */
export function weightsOf({ key, value }: Texts): Map<string, number> {
  const stems = new Map<string, number>();
  addStems(stems, value, 1);
  addStems(stems, key, keyWeight);
  return stems;
}

function addStems(stems: Map<string, number>, text: string, weight: number): void {
  const words = new Map<string, number>();
  for (const word of wordsIn(fold(text))) words.set(word, (words.get(word) ?? 0) + weight);
  for (const [word, sum] of words) {
    const stem = stemOf(word);
    stems.set(stem, (stems.get(stem) ?? 0) + sum);
  }
}

/** An entry's length for the ranking. In characters, so that no entry must be cut into words to be counted. */
export function lengthOf({ key, value }: Texts): number {
  return value.length + keyWeight * key.length;
}
