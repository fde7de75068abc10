import { isTrashPath } from "../../../shared/path.ts";
import { placeOfKey } from "./present-origins.ts";
import type { PresentOrigins } from "./present-origins.ts";
import type { Version } from "./version.ts";

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
