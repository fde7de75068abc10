import { mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { systemCode } from "../../store/files/disk/disk-failure.ts";
import { identityOf } from "../../store/files/disk/place.ts";
import { attempt } from "./failure-of-log.ts";

/** Whether a path leads into a folder, however the two are spelt, and whether they are there or not. */
export function leadsInto(path: string, folder: string): boolean {
  const [target, identity] = [realPath(folder), identityAt(folder)];
  for (let at = realPath(path); ; at = dirname(at)) {
    if (at === target || (identity !== null && identityAt(at) === identity)) return true;
    if (dirname(at) === at) return false;
  }
}

/** Makes a folder and those above it, for their owner only. */
export function makeFolders(path: string): void {
  if (identityAt(path) !== null) return;
  // Step by step: below some mount points Node's own recursion never ends.
  if (dirname(path) !== path) makeFolders(dirname(path));
  attempt("open", () => {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      // Another process may be making it too.
      if (systemCode(error) !== "EEXIST") throw error;
    }
  });
}

/** Links resolved as far as the path is there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

function identityAt(path: string): string | null {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return null;
  }
}
