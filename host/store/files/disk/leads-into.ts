import { readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { identityOf } from "./place.ts";

/** Whether a path leads into a folder, however the two are spelt, and whether they are there or not. */
export function leadsInto(path: string, folder: string): boolean {
  const [target, identity] = [realPath(folder), identityAt(folder)];
  for (let at = realPath(path); ; at = dirname(at)) {
    if (at === target || (identity !== null && identityAt(at) === identity)) return true;
    if (dirname(at) === at) return false;
  }
}

/** As the system follows at most. */
const linksMax = 40;

/** Links resolved as far as the path is there. One that leads to what is not there yet is one all the same. */
export function realPath(path: string, linksLeft = linksMax): string {
  try {
    return realpathSync(path);
  } catch {
    const target = linksLeft > 0 ? targetOf(path) : null;
    const above = dirname(path);
    if (target !== null) return realPath(resolve(realPath(above), target), linksLeft - 1);
    return above === path ? path : join(realPath(above, linksLeft), basename(path));
  }
}

function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

export function identityAt(path: string): string | null {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return null;
  }
}
