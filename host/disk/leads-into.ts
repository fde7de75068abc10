import { readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { identityOf } from "./folder-handle.ts";

/** A folder or a file by its resolved path; `identity` is `null` when nothing is there. */
export interface Located {
  readonly path: string;
  readonly name: string;
  readonly identity: string | null;
}

/** A path to check and then to use: of `link/..`, the system would go to the folder above the link's target. */
export const withoutSteps = (path: string): string => resolve(path);

/** Whether `path` is `folder` itself or leads into it, however the two are spelt. Neither has to exist. */
export function leadsInto(path: string, folder: string): boolean {
  return holds(wayUp(realPath(path)), locate(realPath(folder)));
}

/** A resolved path and all folders above it, innermost first. */
export function wayUp(path: string): [Located, ...Located[]] {
  const above = dirname(path);
  return above === path ? [locate(path)] : [locate(path), ...wayUp(above)];
}

export function holds(way: readonly Located[], { path, identity }: Located): boolean {
  return way.some((each) => each.path === path || (identity !== null && each.identity === identity));
}

const locate = (path: string): Located => ({ path, name: basename(path), identity: identityAt(path) });

/** Whether something exists below a folder, at a path of these names. */
export const isIn = (folder: Located, ...names: readonly string[]): boolean =>
  identityAt(join(folder.path, ...names)) !== null;

/** The most links that the system follows. */
const linksMax = 40;

/** Resolves links as far as the path exists, and a link whose target does not exist yet. */
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
