/** Guesses the intended name. The only file that imports fastest-levenshtein. */
import { distance } from "fastest-levenshtein";

/**
 * Returns the known name with the smallest edit distance, whatever the case. `tail`: a known name that ends in it is
 * nearer than all others. Default: none is.
 */
export function nearestName(name: string, known: readonly string[], tail: string | null = null): string {
  const namesake = tail === null ? undefined : known.find((each) => each.toLowerCase().endsWith(tail.toLowerCase()));
  if (namesake !== undefined) return namesake;
  const wanted = name.slice(0, 100).toLowerCase();
  const distanceTo = (each: string): number => distance(wanted, each.toLowerCase());
  return known.reduce((best, next) => (distanceTo(next) < distanceTo(best) ? next : best));
}
