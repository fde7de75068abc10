/**
 * BM25: the more often an entry has a word, and the fewer entries have it, the better; long entries need more of it.
 * The values are the textbook's. On the sets of `test/bench/search/`, others were better in one and worse in another.
 */

/** How soon more of the same word stops counting. */
const k1 = 1.2;

/** How much more of a word a long entry needs: from 0, not more than a short one, to 1, in proportion to its length. */
const b = 0.75;

/** How many times a word in the key counts, against one in the value. */
export const keyWeight = 3;

/** How much a word says that so many of the entries have. */
export function rarityOf(entriesWithIt: number, entries: number): number {
  return Math.log(1 + (entries - entriesWithIt + 0.5) / (entriesWithIt + 0.5));
}

/** What the weight of one word adds to a score, before its rarity. The length is relative to the average. */
export function scoreOf(weight: number, relativeLength: number): number {
  return (weight * (k1 + 1)) / (weight + k1 * (1 - b + b * relativeLength));
}
