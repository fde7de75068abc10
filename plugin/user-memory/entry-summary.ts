import { frontMatterLimits } from "../front-matter-bounds.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription, loadUnlessUnsafe } from "./memory-scope.ts";
import type { EntryFile, EntrySummary } from "./newest-entries.ts";

/** Reads an entry's file, unless it is too large for any entry. */
export function summaryOf(file: EntryFile): EntrySummary {
  const { name, bytes } = file;
  const entry = bytes > fileBytesMax ? null : loadUnlessUnsafe(name);
  if (entry === null || "unreadable" in entry) {
    return { name, type: null, description: name, created: null, updated: null, updatedMs: changedMs(file) };
  }
  const { type, created, updated } = entry;
  const description = asIndexDescription(entry.description, name);
  return { name, type, description, created, updated, updatedMs: timeIn(updated) ?? changedMs(file) };
}

/** The largest body and front matter, in characters of four bytes, and the fences. */
const fileBytesMax = entryLimits.bodyBytesMax + 4 * frontMatterLimits.charsMax + 32;

const changedMs = ({ changedUs }: EntryFile): number => (changedUs ?? 0) / 1_000;

function timeIn(text: string | null): number | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : ms;
}
