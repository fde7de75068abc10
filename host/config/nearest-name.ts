/**
 * Of names that are known, the one that was probably meant: one that ends in `tail`, what of it stands in the wrong place;
 * else the one with the fewest letters to change.
 */
export function nearestName(name: string, tail: string, known: readonly string[]): string {
  const namesake = known.find((each) => each.toLowerCase().endsWith(tail.toLowerCase()));
  if (namesake !== undefined) return namesake;
  const wanted = name.slice(0, 100).toLowerCase();
  const distances = known.map((each) => ({ each, distance: distanceBetween(wanted, each.toLowerCase()) }));
  return distances.reduce((best, next) => (next.distance < best.distance ? next : best)).each;
}

/** Letters to add, remove or replace; one row of the table at a time. */
function distanceBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, letter] of Array.from(one).entries()) {
    const above = row;
    row = [line + 1];
    for (let column = 0; column < other.length; column++) {
      const replaced = (above[column] ?? 0) + (letter === other[column] ? 0 : 1);
      row.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (row[column] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}
