import { readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { identityOf } from "./folder-handle.ts";

/** A folder or a file by its resolved path; `identity` is `null` when nothing is there. */
export interface Located {
  readonly path: string;
  readonly name: string;
  readonly identity: string | null;
}

/** Whether a path leads into a folder, however the two are spelt, and whether they are there or not. */
export function leadsInto(path: string, folder: string): boolean {
  return holds(wayUp(realPath(path)), locate(realPath(folder)));
}

/** A resolved path and all that it lies in, from the inside out. */
export function wayUp(path: string): [Located, ...Located[]] {
  const above = dirname(path);
  return above === path ? [locate(path)] : [locate(path), ...wayUp(above)];
}

export function holds(way: readonly Located[], { path, identity }: Located): boolean {
  return way.some((each) => each.path === path || (identity !== null && each.identity === identity));
}

const locate = (path: string): Located => ({ path, name: basename(path), identity: identityAt(path) });

/** Whether anything has a name in a folder, or in one below it. */
export const isIn = (folder: Located, ...names: readonly string[]): boolean =>
  identityAt(join(folder.path, ...names)) !== null;

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
