/** Lists entries from the one that was updated last. */
import { quoted } from "../../shared/text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { inputError } from "../kit/tool-error.ts";
import type { ToolError } from "../kit/tool-error.ts";
import { entryLimits } from "./entry-limits.ts";
import { summaryOf } from "./entry-summary.ts";
import { listEntryFiles, shownPlace } from "./memory-scope.ts";
import { isNewer, newestEntries } from "./newest-entries.ts";
import type { EntrySummary } from "./newest-entries.ts";
import type { SearchUserMemoryInput, SearchUserMemoryOutput, ShownEntry } from "./schemas/search.ts";

/** Where an answer ended. */
type Place = Pick<EntrySummary, "updatedMs" | "name">;

export function listEntries({ type, cursor }: SearchUserMemoryInput): Answer<SearchUserMemoryOutput> {
  const { entriesPerPage } = entryLimits;
  const after = cursor === undefined ? null : placeOf(cursor);
  const isWanted = (entry: EntrySummary): boolean =>
    isListed(entry) && (type === undefined || entry.type === type) && (after === null || isNewer(after, entry));
  const found = newestEntries(listEntryFiles(), summaryOf, { countMax: entriesPerPage + 1, isWanted });
  const page = found.slice(0, entriesPerPage);
  const last = found.length > page.length ? page.at(-1) : undefined;
  return {
    message: page.length === 0 ? "No entries" : `${countedEntries(page.length)}, the one updated last first`,
    data: {
      entries: page.filter(isListed).map(shown),
      nextCursor: last ? `${last.updatedMs} ${last.name}` : null,
    },
    shows: page.map(({ path }) => shownPlace(path)),
  };
}

type Listed = EntrySummary & { readonly type: NonNullable<EntrySummary["type"]> };

const isListed = (entry: EntrySummary): entry is Listed => entry.type !== null;

const shown = ({ name, type, description, updated, unreadable }: Listed): ShownEntry => ({
  name,
  type,
  description: description ?? name,
  updated,
  ...(unreadable !== null && { unreadable }),
});

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
