import { isDerived } from "../../../shared/derived-files.ts";
import { placeKey } from "./present-origins.ts";
import type { PresentOrigins } from "./present-origins.ts";
import type { Version } from "./version.ts";

interface Place {
  readonly scope: string;
  readonly path: string;
}

/** What is purged. */
export interface Purged {
  readonly gone: readonly Place[];
  /** Of their contents, as they are on the medium. */
  readonly hashes: readonly string[];
  /** The files that plugins make from others, by scope. */
  readonly derived: ReadonlyMap<string, readonly string[]>;
}

/**
 * The hashes of everything that files have held, also under the names that they had before they came into the trash, and
 * of all former states of what plugins make from them, such as an index that repeats a line of theirs; without what
 * present files hold.
 */
export function contentsOfPurged(
  versions: readonly Version[],
  { gone, hashes, derived }: Purged,
  present: PresentOrigins,
): Set<string> {
  const wanted = new Set(gone.map(placeKey));
  const found = new Set(hashes);
  for (const { files } of versions.toReversed()) {
    for (const file of files) {
      // Somebody has moved it into the trash by hand: what had its content is its former name.
      if (file.sha256 !== null && found.has(file.sha256)) wanted.add(placeKey(file));
      const isMade = isDerived(file.path, derived.get(file.scope) ?? []);
      if (!isOfLineage(file, wanted) && !isMade) continue;
      for (const each of [file.sha256, file.before]) if (each !== null) found.add(each);
    }
  }
  const places = new Set(gone.map(placeKey));
  for (const [place, { sha256 }] of present.entries()) if (!places.has(place)) found.delete(sha256);
  // What is known of a file that somebody has moved is not so any more.
  for (const each of hashes) found.add(each);
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
