/** What the calls of a run have read, and so how far the run is trusted. */
import { isDerived } from "../../shared/derived-files.ts";
import { lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { showsEntries } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import { trustOfReads } from "../store/versions/read-trust.ts";
import type { Seen } from "../values/change-set.ts";

/**
 * Whether what a tool reads can get to a model, or into what it writes. That holds for tools of programs too: a program can
 * offer one to a model under a name of its own. An index is in every prompt, with labels: if it counted, every run would be
 * trusted as little as the least trusted entry.
 */
export const readsEntries = (found: CatalogTool): boolean => showsEntries(found) && found.tool.role !== "index";

/**
 * The lowest trust of the entries among some files of one history; `null` if there were none. `derived`: the files that a
 * plugin makes from its others, by scope.
 */
export function trustOfEntries(
  history: HeldHistory,
  seen: readonly Seen[],
  derived: ReadonlyMap<string, readonly string[]>,
): OriginClass | null {
  const entries = seen.filter(({ scope, path }) => !isDerived(path, derived.get(scope) ?? []));
  return trustOfReads(history, entries);
}

/** Of some histories together; `null` if nothing was read. */
export function lowestRead(trusts: readonly (OriginClass | null)[]): OriginClass | null {
  const read = trusts.filter((trust) => trust !== null);
  return read.length === 0 ? null : lowestOf(...read);
}
