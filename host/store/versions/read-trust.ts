import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { Seen } from "../../values/change-set.ts";
import { ContentOrigins } from "./content-origins.ts";
import type { HeldHistory } from "./held-history.ts";

/** The lowest trust of files that were read; `null` if there were none. */
export async function trustOfReads(history: HeldHistory, files: readonly Seen[]): Promise<OriginClass | null> {
  const read = files.filter(({ digest }) => digest !== null);
  if (read.length === 0) return null;
  const origins = new ContentOrigins(history);
  const all = await Promise.all(read.map(({ scope, path, digest }) => origins.of(scope, path, digest)));
  return lowestOf(...all.map(({ trust }) => trust));
}
