import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { identityOf } from "./place.ts";

/** Whether a path leads into a folder, however the two are spelt, and whether they are there or not. */
export function leadsInto(path: string, folder: string): boolean {
  const [target, identity] = [realPath(folder), identityAt(folder)];
  for (let at = realPath(path); ; at = dirname(at)) {
    if (at === target || (identity !== null && identityAt(at) === identity)) return true;
    if (dirname(at) === at) return false;
  }
}

/** Links resolved as far as the path is there. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

export function identityAt(path: string): string | null {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return null;
  }
}
