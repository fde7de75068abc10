import { searchLimits } from "./search-limits.ts";
import type { SearchedFile } from "./searched.ts";

/** Files of a store that no index knows. */
export interface Unindexed<Store> {
  readonly store: Store;
  readonly files: readonly SearchedFile[];
}

/**
 * Divides what one search can read among the stores. Each gets an equal share of what the stores that need less leave
 * over, so that no store can take the others' part.
 */
export function divideReads<Store>(unindexed: readonly Unindexed<Store>[]): {
  readonly read: readonly Unindexed<Store>[];
  readonly filesLeftOut: number;
} {
  let budget: number = searchLimits.readCostMax;
  let filesLeftOut = 0;
  const byCost = unindexed
    .map(({ store, files }) => ({ store, files, cost: sum(files.map(readCostOf)) }))
    .toSorted((one, other) => one.cost - other.cost);
  const read = byCost.map(({ store, files }, at) => {
    const share = filesWithin(files, budget / (byCost.length - at));
    filesLeftOut += files.length - share.length;
    budget -= sum(share.map(readCostOf));
    return { store, files: share };
  });
  return { read, filesLeftOut };
}

/** The newest first, because people look for these. */
function filesWithin(files: readonly SearchedFile[], costMax: number): SearchedFile[] {
  let cost = 0;
  return files
    .toSorted((one, other) => other.changedUs - one.changedUs)
    .filter((file) => {
      const fits = cost + readCostOf(file) <= costMax;
      if (fits) cost += readCostOf(file);
      return fits;
    });
}

/** The bytes of a file, and what a request costs. */
export const readCostOf = ({ bytes }: SearchedFile): number => bytes + searchLimits.readCostPerFile;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
