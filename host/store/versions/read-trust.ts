import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { Seen } from "../../values/change-set.ts";
import type { HeldHistory } from "./held-history.ts";

/**
 * The lowest trust of files that were read; `null` if there were none. A file that somebody has edited or moved by hand is
 * an edit of its owner until a change meets it: to compare it with all versions would take a read too long.
 */
export function trustOfReads(history: HeldHistory, files: readonly Seen[]): OriginClass | null {
  const read = files.filter(({ digest }) => digest !== null);
  if (read.length === 0) return null;
  const { unknown, isBroken } = history;
  return lowestOf(
    ...read.map(({ scope, path, digest }) => {
      const known = history.originOf(scope, path);
      if (known === null) return unknown;
      return known.sha256 !== digest && isBroken ? lowestOf(known.trust, unknown) : known.trust;
    }),
  );
}
