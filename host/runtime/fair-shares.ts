/**
 * Divides a total that is too small for all needs. A need below an equal share is met in full, and the others get equal
 * parts of the rest. Whole numbers, rounded down. If all needs fit, all are met.
 *
 * @example
 * fairShares(100, [10, 60, 70]); // [10, 45, 45]
 */
export function fairShares(total: number, needs: readonly number[]): number[] {
  const shares: number[] = needs.map(() => 0);
  let left = total;
  const smallestFirst = [...needs.entries()].toSorted(([, a], [, b]) => a - b);
  for (const [rank, [at, need]] of smallestFirst.entries()) {
    const share = Math.min(need, Math.floor(left / (needs.length - rank)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
