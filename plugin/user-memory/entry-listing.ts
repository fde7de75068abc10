/** Lists entries from the one that was updated last. */
import { quoted } from "../../shared/text.ts";
import type { Answer } from "../serve-tool.ts";
import { inputError } from "../tool-error.ts";
import type { ToolError } from "../tool-error.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription, listEntryNames, loadUnlessUnsafe } from "./memory-scope.ts";
import type { SearchUserMemoryInput, SearchUserMemoryOutput, ShownEntry } from "./schemas/search.ts";

/** Where an answer ended. */
interface Place {
  readonly updatedMs: number;
  readonly name: string;
}

export function listEntries({ type, cursor }: SearchUserMemoryInput): Answer<SearchUserMemoryOutput> {
  const after = cursor === undefined ? null : placeOf(cursor);
  const found: (Place & { readonly entry: ShownEntry })[] = [];
  for (const name of listEntryNames()) {
    const entry = loadUnlessUnsafe(name);
    if (entry === null || "unreadable" in entry || (type !== undefined && entry.type !== type)) continue;
    const place = { updatedMs: Date.parse(entry.updated ?? "") || 0, name };
    if (after && comparePlaces(place, after) <= 0) continue;
    const description = asIndexDescription(entry.description, name);
    found.push({ ...place, entry: { name, type: entry.type, description, updated: entry.updated } });
  }
  const page = found.toSorted(comparePlaces).slice(0, entryLimits.entriesPerPage);
  const last = page.length < found.length ? page.at(-1) : undefined;
  return {
    message: page.length === 0 ? "No entries" : `${countedEntries(page.length)}, the one updated last first`,
    data: { entries: page.map(({ entry }) => entry), nextCursor: last ? `${last.updatedMs} ${last.name}` : null },
  };
}

const comparePlaces = (one: Place, other: Place): number =>
  other.updatedMs - one.updatedMs || (one.name < other.name ? -1 : Number(one.name > other.name));

function placeOf(cursor: string): Place {
  const [, updatedMs, name] = /^(-?\d{1,16}) ([a-zA-Z0-9_-]{1,100})$/.exec(cursor) ?? [];
  if (updatedMs === undefined || name === undefined) throw unknownCursor(cursor);
  return { updatedMs: Number(updatedMs), name };
}

export function unknownCursor(cursor: string): ToolError {
  const allowed = "the nextCursor of an answer to the same query and type";
  return inputError("SearchUserMemory", [{ field: "cursor", value: quoted(cursor), allowed }]);
}

export const countedEntries = (count: number): string => `${count} ${count === 1 ? "entry" : "entries"}`;
