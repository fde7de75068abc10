/** What the calls of a run have read, and so how far the run is trusted. */
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { isDerivedFile } from "../plugins/family-files.ts";
import type { FamilyFiles } from "../plugins/family-files.ts";
import { listsEntries, showsEntries } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { Seen } from "../values/change-set.ts";

/**
 * Whether what a tool reads can get to a model, or into what it writes. That holds for tools of programs too: a program can
 * offer one to a model under a name of its own. An index is in every prompt, and a list in every client, with labels: if
 * they counted, every run would be trusted as little as the least trusted entry.
 */
export const readsEntries = (found: CatalogTool): boolean => showsEntries(found) && !listsEntries(found);

/** What a plugin makes from its other files repeats them, and says nothing of its own. */
export const withoutDerived = (seen: readonly Seen[], files: FamilyFiles): Seen[] =>
  seen.filter((file) => !isDerivedFile(files, file));

/** Of some histories together; `null` if nothing was read. */
export function lowestRead(trusts: readonly (OriginClass | null)[]): OriginClass | null {
  const read = trusts.filter((trust) => trust !== null);
  return read.length === 0 ? null : lowestOf(...read);
}
