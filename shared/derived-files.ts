/** The files that a family makes from its other files: `derivedFiles` of a manifest. */
import { isScopePath, isTrashPath } from "./path.ts";

/** Whether it can be one of `derivedFiles`: a path outside the trash, or a folder's path with one `/` at its end. */
export function isDerivedPlace(place: string): boolean {
  const path = place.endsWith("/") ? place.slice(0, -1) : place;
  return isScopePath(path) && !isTrashPath(path);
}

/** Whether a path inside the scope is one of these files, or lies below one of these folders. Case matters. */
export function isDerived(path: string, derivedFiles: readonly string[]): boolean {
  return derivedFiles.some((place) => path === place || (place.endsWith("/") && path.startsWith(place)));
}
