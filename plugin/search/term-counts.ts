import { fold } from "./fold.ts";
import { countOf } from "./occurrences.ts";
import type { Term } from "./query.ts";
import { keyWeight } from "./ranking.ts";
import type { FoundEntry, SearchedEntry } from "./searched.ts";
import { stemOf } from "./stem.ts";
import { wordsIn } from "./words.ts";

/** Counts the terms of a query in entries that are not cut into words. */
export class TermCounts {
  /** Of the terms that an ASCII text can have, each with a space behind it. */
  readonly beginnings: string;
  readonly #terms: readonly Term[];
  readonly #numbers: ReadonlyMap<string, number>;
  /** The number of a word's term, or -1: a word is often in many entries. */
  readonly #known = new Map<string, number>();

  constructor(terms: readonly Term[]) {
    this.#terms = terms;
    this.#numbers = new Map(terms.map(({ stem }, number) => [stem, number]));
    const ascii = terms.filter(({ beginning }) => /^[a-z0-9]+$/.test(beginning));
    this.beginnings = ascii.map(({ beginning }) => `${beginning} `).join("");
  }

  /** How often an entry has each term; a word in the key counts several times. */
  weightsOf({ entry, valueWords, keyCanHave }: FoundEntry<SearchedEntry>): number[] {
    const weights = this.#terms.map(() => 0);
    if (valueWords !== undefined) this.#addWords(weights, valueWords);
    else if (entry) this.#addIn(weights, fold(entry.value), 1);
    if (keyCanHave && entry) this.#addIn(weights, fold(entry.key), keyWeight);
    return weights;
  }

  /** The same of texts that are folded. */
  weightsIn(key: string, value: string): number[] {
    const weights = this.#terms.map(() => 0);
    this.#addIn(weights, value, 1);
    this.#addIn(weights, key, keyWeight);
    return weights;
  }

  #addIn(weights: number[], folded: string, weight: number): void {
    for (const [number, term] of this.#terms.entries()) {
      weights[number] = (weights[number] ?? 0) + weight * countOf(folded, term);
    }
  }

  #addWords(weights: number[], words: string): void {
    for (const word of words.split(" ")) {
      const term = this.#termOf(word);
      if (term !== -1) weights[term] = (weights[term] ?? 0) + 1;
    }
  }

  #termOf(word: string): number {
    let term = this.#known.get(word);
    if (term === undefined) {
      term = this.#numbers.get(stemOf(wordsIn(word)[0] ?? "")) ?? -1;
      this.#known.set(word, term);
    }
    return term;
  }
}
