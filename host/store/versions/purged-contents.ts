import { placeKey } from "./present-origins.ts";
import type { PresentOrigins } from "./present-origins.ts";
import type { Version } from "./version.ts";

interface Place {
  readonly scope: string;
  readonly path: string;
}

/**
 * The hashes of everything that files have held, also under the names that they had before they came into the trash, and
 * of what was written together with them, such as an index that repeats a line of theirs; without what present files hold.
 */
export function contentsOfPurged(
  versions: readonly Version[],
  gone: readonly Place[],
  present: PresentOrigins,
): Set<string> {
  const wanted = new Set(gone.map(placeKey));
  const found = new Set<string>();
  /** Files that were written together with them, since they came into being. */
  const companions = new Set<string>();
  for (const { files, kind } of versions.toReversed()) {
    const isTheirs = files.map((file) => isOfLineage(file, wanted));
    const isTogether = isTheirs.includes(true) && kind !== "imported";
    for (const [at, file] of files.entries()) {
      if (isTogether && !isTheirs[at]) companions.add(placeKey(file));
      if (!isTheirs[at] && !companions.has(placeKey(file))) continue;
      for (const each of [file.sha256, file.before]) if (each !== null) found.add(each);
    }
    if (wanted.size === 0) break;
  }
  const places = new Set(gone.map(placeKey));
  for (const [place, { sha256 }] of present.entries()) if (!places.has(place)) found.delete(sha256);
  return found;
}

/** Whether a file is one of those that are wanted. From then on, its name before is wanted, and none once it is made. */
function isOfLineage({ scope, path, from, before }: Version["files"][number], wanted: Set<string>): boolean {
  const key = placeKey({ scope, path });
  if (!wanted.has(key)) return false;
  if (from !== undefined) wanted.add(placeKey({ scope, path: from }));
  // Here it came into being. What had its name before was another file.
  if (before === null) wanted.delete(key);
  return true;
}
