import { frontMatterLimits } from "../front-matter-bounds.ts";
import { listedTime, yamlBudget } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription } from "./index-description.ts";
import { loadUnlessUnsafe } from "./memory-scope.ts";
import type { EntryFile, EntrySummary } from "./newest-entries.ts";

/** Reads an entry's file for a list, unless it is too large for any entry, or the call has read too much. */
export function summaryOf(file: EntryFile): EntrySummary {
  const { name, bytes } = file;
  bytesLeft -= isNoSummary(bytes) ? 0 : bytes;
  const entry = isNoSummary(bytes) || bytesLeft < 0 ? null : loadUnlessUnsafe(name, yamlBudget);
  const said = entry?.description ?? null;
  const description = said === null ? null : asIndexDescription(said, name);
  if (entry === null || "unreadable" in entry) {
    const unreadable = entry?.unreadable ?? null;
    const type = entry?.type ?? null;
    return { name, type, description, unreadable, created: null, updated: null, updatedMs: changedMs(file) };
  }
  const [created, updated] = [listedTime(entry.created), listedTime(entry.updated)];
  const { type } = entry;
  const updatedMs = timeIn(updated) ?? changedMs(file);
  return { name, type, description, unreadable: null, created, updated, updatedMs };
}

/** As much as tools write into one folder. People can put more there, and each call has an end. */
let bytesLeft = 64 * 1024 * 1024;

/** The largest body and front matter, in characters of four bytes, and the fences. */
const fileBytesMax = entryLimits.bodyBytesMax + 4 * frontMatterLimits.charsMax + 32;

/** Lists and indexes do not read such a file. */
export const isNoSummary = (bytes: number): boolean => bytes > fileBytesMax;

const changedMs = ({ changedUs }: EntryFile): number => Math.floor((changedUs ?? 0) / 1_000);

function timeIn(text: string | null): number | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : ms;
}
