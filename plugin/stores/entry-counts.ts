/**
 * How many entries a store has, in a small file beside the index, so that a write need not list the store. New
 * entries are counted there, and near the limit those that go. The rest, and what people add or remove, counts when the
 * files are counted again: before anything is refused, and after so many new entries that the limit is passed by a
 * sixteenth at most, whatever people have put there and whatever the file says.
 */
import type { ListedFile } from "../../shared/abi.ts";
import { entryKinds, kindOf, placeOf } from "./key-path.ts";
import type { EntryKind } from "./key-path.ts";
import { indexFolder } from "./store-index.ts";
import { entryLimits } from "./store-limits.ts";

interface Count {
  /** When the files were counted. */
  readonly counted: number;
  /** New ones since then. */
  readonly added: number;
}

export type EntryCounts = Readonly<Record<EntryKind, Count>>;

export const countsPath = `${indexFolder}/counts.json`;

const about = "How many entries memcell has counted. It is made from the entries and can be deleted.";

/** `null` for what is not such a file. */
export function readCounts(text: string | null): EntryCounts | null {
  try {
    const counts = JSON.parse(text ?? "") as Record<EntryKind, unknown>;
    return entryKinds.every((kind) => isCount(counts[kind])) ? (counts as EntryCounts) : null;
  } catch {
    return null;
  }
}

export function countsText({ models, programs, items }: EntryCounts): string {
  return `${JSON.stringify({ about, models, programs, items })}\n`;
}

export function countsOf(files: readonly ListedFile[], store: string): EntryCounts {
  const counted: Record<EntryKind, number> = { models: 0, programs: 0, items: 0 };
  for (const { path } of files) {
    const place = placeOf(path, store);
    if (place !== null) counted[kindOf(place)]++;
  }
  const countOf = (kind: EntryKind): Count => ({ counted: counted[kind], added: 0 });
  return { models: countOf("models"), programs: countOf("programs"), items: countOf("items") };
}

export const mostOf = (kind: EntryKind): number => (kind === "items" ? entryLimits.itemsMax : entryLimits.entriesMax);

/** Whether one more entry of a kind is within the limit for sure. */
export function hasRoom(counts: EntryCounts, kind: EntryKind): boolean {
  const { counted, added } = counts[kind];
  return counted + added < mostOf(kind) && added < Math.max(addedMin, counted / 16);
}

export function withOneMore(counts: EntryCounts, kind: EntryKind): EntryCounts {
  const { counted, added } = counts[kind];
  return { ...counts, [kind]: { counted, added: added + 1 } };
}

/**
 * `null` if it need not be noted: far from the limit the next count of the files sees it. `added` stays as it is, so that
 * they are counted as often as before.
 */
export function withOneLess(counts: EntryCounts, kind: EntryKind): EntryCounts | null {
  const { counted, added } = counts[kind];
  if (counted === 0 || counted + added < mostOf(kind) - addedMin) return null;
  return { ...counts, [kind]: { counted: counted - 1, added } };
}

/** To count the files of a nearly empty store takes hardly anything, but not nothing. */
const addedMin = entryLimits.entriesMax / 16;

const isCount = (value: unknown): value is Count => {
  const { counted, added } = (value ?? {}) as Partial<Record<keyof Count, unknown>>;
  return isWhole(counted) && isWhole(added);
};

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
