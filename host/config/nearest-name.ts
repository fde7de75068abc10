/** The name that was probably meant. Sole importer of fastest-levenshtein. */
import { distance } from "fastest-levenshtein";

/** One that ends in `tail`, what of it stands in the wrong place; else the one with the fewest letters to change. */
export function nearestName(name: string, tail: string, known: readonly string[]): string {
  const namesake = known.find((each) => each.toLowerCase().endsWith(tail.toLowerCase()));
  if (namesake !== undefined) return namesake;
  const wanted = name.slice(0, 100).toLowerCase();
  const distanceTo = (each: string): number => distance(wanted, each.toLowerCase());
  return known.reduce((best, next) => (distanceTo(next) < distanceTo(best) ? next : best));
}
