/** Guesses the intended name. The only file that imports fastest-levenshtein. */
import { distance } from "fastest-levenshtein";

/** Returns a known name that ends in `tail`, or else the one with the smallest edit distance. */
export function nearestName(name: string, tail: string, known: readonly string[]): string {
  const namesake = known.find((each) => each.toLowerCase().endsWith(tail.toLowerCase()));
  if (namesake !== undefined) return namesake;
  const wanted = name.slice(0, 100).toLowerCase();
  const distanceTo = (each: string): number => distance(wanted, each.toLowerCase());
  return known.reduce((best, next) => (distanceTo(next) < distanceTo(best) ? next : best));
}
