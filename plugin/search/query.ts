import { fold } from "./fold.ts";
import { searchLimits } from "./search-limits.ts";
import { beginningOf, stemOf } from "./stem.ts";
import { stopWords } from "./stop-words.ts";
import { isUnspaced, wordsIn } from "./words.ts";

/** What a query looks for. */
export interface Term {
  readonly stem: string;
  /** Every folded text with a word of this stem contains it. */
  readonly beginning: string;
  /** Whether the stem is one character of unspaced text, which can be part of a pair. */
  readonly isPart: boolean;
}

/**
 * Returns what a query looks for, each stem once. Stop words are left out, unless there is nothing else. Any text is a
 * query: it has words or none.
 */
export function termsOf(query: string): Term[] {
  const words = [...new Set(wordsIn(fold(query)))];
  const telling = words.filter((word) => !stopWords.has(word));
  const stems = [...new Set((telling.length > 0 ? telling : words).map(stemOf))];
  return stems
    .slice(0, searchLimits.termsMax)
    .map((stem) => ({ stem, beginning: beginningOf(stem), isPart: isUnspaced(stem) && Array.from(stem).length === 1 }));
}
