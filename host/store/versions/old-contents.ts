/** Contents that a history must not keep, or need not: of what its owner purges, and of what is old. */
import { isDerived } from "../../../shared/derived-files.ts";
import { isTrashPath } from "../../../shared/path.ts";
import { placeKey, placeOfKey } from "../../values/change-set.ts";
import type { Place } from "../../values/change-set.ts";
import type { PresentOrigins } from "./present-origins.ts";
import type { Version, VersionedFile } from "./version.ts";

/** What is purged. */
interface Purged {
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
function isOfLineage({ scope, path, from, before }: VersionedFile, wanted: Set<string>): boolean {
  const key = placeKey({ scope, path });
  if (!wanted.has(key)) return false;
  if (from !== undefined) wanted.add(placeKey({ scope, path: from }));
  // Here it came into being. What had its name before was another file.
  if (before === null) wanted.delete(key);
  return true;
}

const dayMs = 24 * 3_600_000;

export interface AgeBound {
  readonly daysMax: number;
  readonly nowMs: number;
}

/** What no file has had since then is old. */
export const agedBefore = ({ daysMax, nowMs }: AgeBound): number => nowMs - daysMax * dayMs;

/** Old contents are looked for once a day: all versions have to be read. A clock that was set back starts anew. */
export function isAgingDue(lookedMs: number, nowMs: number): boolean {
  return nowMs < lookedMs || nowMs - lookedMs >= dayMs;
}

/**
 * The hashes of contents that no file has had for some days. What is in the trash counts as deleted: the trash has its
 * own copy. `isThere`: whether a file that should be present is; somebody can have removed it by hand.
 */
export function agedContents(
  versions: readonly Version[],
  present: PresentOrigins,
  { isThere, ...bound }: AgeBound & { readonly isThere: (scope: string, path: string) => boolean },
): Set<string> {
  const lastMs = new Map<string, number>();
  for (const { atMs, files } of versions) {
    for (const { before, sha256 } of files) {
      for (const each of [before, sha256]) if (each !== null) lastMs.set(each, Math.max(lastMs.get(each) ?? 0, atMs));
    }
  }
  const beforeMs = agedBefore(bound);
  const aged = new Set(Array.from(lastMs).flatMap(([sha256, atMs]) => (atMs < beforeMs ? [sha256] : [])));
  for (const [place, { sha256 }] of present.entries()) {
    if (!aged.has(sha256)) continue;
    const { scope, path } = placeOfKey(place);
    if (!isTrashPath(path) && isThere(scope, path)) aged.delete(sha256);
  }
  return aged;
}
