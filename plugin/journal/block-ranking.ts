/** Ranks blocks by the words of a query, as `plugin/search/` ranks entries. */
import { foldAscii } from "../kit/caseless.ts";
import { fold } from "../search/fold.ts";
import type { Term } from "../search/query.ts";
import { rarityOf, scoreOf } from "../search/ranking.ts";
import { TermCounts } from "../search/term-counts.ts";
import { holds } from "./holds.ts";

interface Candidate<Place> {
  readonly place: Place;
  readonly length: number;
  readonly weights: readonly number[];
}

/** A journal can have more blocks with a word than fit into the guest's memory: then the best so far stay. */
const candidatesMax = 20_000;
const keptMax = 5_000;

/** How many of the best are sorted at once: a native search for the worst of them is far faster than a sort of all. */
const batch = 200;

export class BlockRanking<Place> {
  readonly #terms: readonly Term[];
  readonly #counts: TermCounts;
  /** How many blocks have each term, also those that were dropped. */
  readonly #blocksWith: number[];
  #candidates: Candidate<Place>[] = [];
  #blocks = 0;
  #length = 0;
  /** Of files that were not cut into blocks. */
  #uncutBytes = 0;

  constructor(terms: readonly Term[]) {
    this.#terms = terms;
    this.#counts = new TermCounts(terms);
    this.#blocksWith = terms.map(() => 0);
  }

  /** For `Scope.wordsOf`. */
  get beginnings(): string {
    return this.#counts.beginnings;
  }

  /** Returns the text folded if it can have a word of the query, or `null`. */
  foldedIfFit(text: string, isAscii: boolean): string | null {
    const folded = isAscii ? foldAscii(text) : fold(text);
    return this.#terms.some(({ beginning }) => holds(folded, beginning)) ? folded : null;
  }

  /** Counts text with nothing that the query looks for. */
  addOther(blocks: number, length: number): void {
    this.#blocks += blocks;
    this.#length += length;
  }

  /** Counts a file with nothing that the query looks for. */
  addUncut(bytes: number): void {
    this.#uncutBytes += bytes;
  }

  /** Adds a block, of which key and value are folded. */
  add(place: Place, { key, value }: { readonly key: string; readonly value: string }, length: number): void {
    this.addOther(1, length);
    const weights = this.#counts.weightsIn(key, value);
    if (!weights.some((weight) => weight > 0)) return;
    for (const [term, weight] of weights.entries()) {
      if (weight > 0) this.#blocksWith[term] = (this.#blocksWith[term] ?? 0) + 1;
    }
    this.#candidates.push({ place, length, weights });
    if (this.#candidates.length === candidatesMax) this.#dropWorst();
  }

  /** All that were kept, the best first; of equals, the one that was added first. Nearly always only some are asked for. */
  *best(): Generator<Place> {
    const scores = this.#scores();
    const sorted = scores.toSorted();
    for (let [above, seen] = [Infinity, 0]; seen < sorted.length;) {
      const worst = sorted.at(-Math.min(seen + batch, sorted.length)) ?? 0;
      const found = this.#candidates.flatMap(({ place }, at) => {
        const score = scores[at] ?? 0;
        return score >= worst && score < above ? [{ place, score }] : [];
      });
      for (const { place } of found.toSorted((one, other) => other.score - one.score)) yield place;
      above = worst;
      seen += found.length;
    }
  }

  get count(): number {
    return this.#candidates.length;
  }

  #dropWorst(): void {
    const scores = this.#scores();
    const worst = scores.toSorted().at(-keptMax) ?? 0;
    this.#candidates = this.#candidates.filter((_, at) => (scores[at] ?? 0) >= worst).slice(0, keptMax);
  }

  #scores(): Float64Array {
    const averageLength = this.#length / Math.max(1, this.#blocks);
    const blocks = this.#blocks + this.#uncutBytes / Math.max(1, averageLength);
    const rarities = this.#blocksWith.map((count) => rarityOf(count, blocks));
    return Float64Array.from(this.#candidates, ({ weights, length }) => {
      let score = 0;
      for (const [term, weight] of weights.entries()) {
        if (weight > 0) score += (rarities[term] ?? 0) * scoreOf(weight, length / averageLength);
      }
      return score;
    });
  }
}
