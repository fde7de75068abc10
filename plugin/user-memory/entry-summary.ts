import { frontMatterLimits } from "../front-matter-bounds.ts";
import { listedTime, yamlBudget } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription } from "./index-description.ts";
import { loadUnlessUnsafe } from "./memory-scope.ts";
import type { EntryFile, EntrySummary } from "./newest-entries.ts";

/** Reads an entry's file for a list, unless it is too large for any entry. */
export function summaryOf(file: EntryFile): EntrySummary {
  const { name, bytes } = file;
  const entry = bytes > fileBytesMax ? null : loadUnlessUnsafe(name, yamlBudget);
  const description = entry ? asIndexDescription(entry.description, name) : name;
  if (entry === null || "unreadable" in entry) {
    return { name, type: null, description, created: null, updated: null, updatedMs: changedMs(file) };
  }
  const [created, updated] = [listedTime(entry.created), listedTime(entry.updated)];
  const { type } = entry;
  return { name, type, description, created, updated, updatedMs: timeIn(updated) ?? changedMs(file) };
}

/** The largest body and front matter, in characters of four bytes, and the fences. */
const fileBytesMax = entryLimits.bodyBytesMax + 4 * frontMatterLimits.charsMax + 32;

const changedMs = ({ changedUs }: EntryFile): number => Math.floor((changedUs ?? 0) / 1_000);

function timeIn(text: string | null): number | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : ms;
}
