/** Which paths of a store tools read: those of entries, and those of what is made from the entries. */
import { countsPath } from "./entry-counts.ts";
import { placeOf } from "./key-path.ts";
import { isIndexPath } from "./store-index.ts";

export const isDerivedPath = (path: string): boolean => isIndexPath(path) || path === countsPath;

export const isKept = (path: string, store: string): boolean => placeOf(path, store) !== null || isDerivedPath(path);
