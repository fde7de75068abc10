import { frontMatterLimits } from "../kit/front-matter-bounds.ts";
import { beginsAs } from "./canonical-form.ts";
import { listedTime, yamlBudget } from "./entry-file.ts";
import { entryLimits } from "./entry-limits.ts";
import { asIndexDescription } from "./index-description.ts";
import { entryIn, readUnlessUnsafe } from "./memory-scope.ts";
import type { FoundText } from "./memory-scope.ts";
import type { EntryFile, EntrySummary } from "./newest-entries.ts";

/** Reads an entry's file for a list. */
export const summaryOf = (file: EntryFile): EntrySummary => summaryIn(readForList(file), file);

/**
 * What a list says of an entry. `said`: what the index says. Nearly every file says the same, as a tool writes it, and is
 * not parsed then: that takes as long as all the rest. Of any other the whole summary is returned.
 */
export function describedIn(file: EntryFile, said: string | null): EntrySummary | Described {
  const { name, path } = file;
  const found = readForList(file);
  const isSaid = said !== null && found?.damage === null && beginsAs(found.text, name, said);
  return isSaid ? { name, path, description: asIndexDescription(said, name) } : summaryIn(found, file);
}

/** Of a file that was not parsed. */
type Described = Pick<EntrySummary, "name" | "path" | "description"> & { readonly updatedMs?: undefined };

/** `null` also for a file that is too large for any entry, or if the call has read too much. */
function readForList({ path, bytes }: EntryFile): FoundText | null {
  bytesLeft -= isNoSummary(bytes) ? 0 : bytes;
  return isNoSummary(bytes) || bytesLeft < 0 ? null : readUnlessUnsafe(path);
}

function summaryIn(found: FoundText | null, file: EntryFile): EntrySummary {
  const { name, path } = file;
  const entry = entryIn(found, name, yamlBudget);
  const said = entry?.description ?? null;
  const description = said === null ? null : asIndexDescription(said, name);
  if (entry === null || "unreadable" in entry) {
    const unreadable = entry?.unreadable ?? null;
    const type = entry?.type ?? null;
    return { name, path, type, description, unreadable, created: null, updated: null, updatedMs: changedMs(file) };
  }
  const [created, updated] = [listedTime(entry.created), listedTime(entry.updated)];
  const { type } = entry;
  const updatedMs = timeIn(updated) ?? changedMs(file);
  return { name, path, type, description, unreadable: null, created, updated, updatedMs };
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
