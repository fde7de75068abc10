import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { VersionedFile } from "./version.ts";

/** The lowest trust of files with each content, by its hash, wherever they are. */
export function lowestByContent(files: Iterable<Pick<VersionedFile, "sha256" | "trust">>): Map<string, OriginClass> {
  const lowest = new Map<string, OriginClass>();
  for (const { sha256, trust } of files) {
    if (sha256 !== null) lowest.set(sha256, lowestOf(lowest.get(sha256) ?? trust, trust));
  }
  return lowest;
}
