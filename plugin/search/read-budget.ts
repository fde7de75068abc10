import { searchLimits } from "./search-limits.ts";
import type { SearchedFile } from "./searched.ts";

/** Files that are to be read of a store. */
export interface Reads<Store> {
  readonly store: Store;
  readonly files: readonly SearchedFile[];
}

export interface DividedReads<Store> {
  /** What can be read, in the order of the stores. `isWhole`: all that was to be read. */
  readonly read: readonly (Reads<Store> & { readonly isWhole: boolean })[];
  readonly filesLeftOut: number;
}

/**
 * Divides what one search can read among the stores. The first one, which is the caller's own, is sure of a half. Each
 * of the others gets an equal share of what those that need less leave over, so that no store can take another's part.
 */
export function divideReads<Store>(asked: readonly Reads<Store>[], costMax: number): DividedReads<Store> {
  const [own = 0, ...others] = asked.map(({ files }) => costOf(files));
  const shares = [Math.min(own, Math.max(costMax / 2, costMax - sum(others)))];
  let costLeft = costMax - sum(shares);
  const byCost = [...others.keys()].toSorted((one, other) => (others[one] ?? 0) - (others[other] ?? 0));
  for (const [at, number] of byCost.entries()) {
    const share = Math.min(others[number] ?? 0, costLeft / (byCost.length - at));
    shares[number + 1] = share;
    costLeft -= share;
  }
  const read = asked.map(({ store, files }, at) => {
    const within = filesWithin(files, shares[at] ?? 0);
    return { store, files: within, isWhole: within.length === files.length };
  });
  return { read, filesLeftOut: sum(asked.map(({ files }, at) => files.length - (read[at]?.files.length ?? 0))) };
}

/** The newest first, because people look for these. */
function filesWithin(files: readonly SearchedFile[], costMax: number): readonly SearchedFile[] {
  if (costOf(files) <= costMax) return files;
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

const costOf = (files: readonly SearchedFile[]): number => sum(files.map(readCostOf));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
