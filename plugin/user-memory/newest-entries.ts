/**
 * Entries in the order of their last update, the newest first. Reads as few files as possible: an entry cannot have
 * been updated after the last change of its file, which a listing tells. So once an entry is newer than the change of
 * every file that has not been read, it is the next. If a host does not tell the changes, or a restored backup has
 * changed all files at one time, more files are read, and the order is the same.
 */
import { entryLimits } from "./entry-limits.ts";
import type { EntryType } from "./entry-types.ts";

/** The file of an entry. */
export interface EntryFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** When it was last changed, in microseconds since 1970. 0: by this call. `null`: the host does not tell. */
  readonly changedUs: number | null;
}

/** What a list shows of an entry. */
export interface EntrySummary extends Pick<EntryFile, "name" | "path"> {
  /** `null` if the file was not read: the host does not open it, or it is beyond the bounds of a call. */
  readonly type: EntryType | null;
  /** One line within the limit; `null` if nothing of the file was read. */
  readonly description: string | null;
  /** Why the file cannot be read as an entry, as a clause about it. */
  readonly unreadable: string | null;
  /** As the file has them: UTC, ISO 8601, unless a person wrote something else; `null` if they are missing. */
  readonly created: string | null;
  readonly updated: string | null;
  /** `updated` in milliseconds since 1970; without it, when the file was last changed; 0 if that is unknown too. */
  readonly updatedMs: number;
}

/** A file system's clock can be behind by as much: FAT counts in steps of two seconds. */
const clockLagMs = 2_000;

export type ReadSummary = (file: EntryFile) => EntrySummary;

/**
 * Twice as many as tools create. A call can read only some thousands, and people can put more there: then those that
 * were changed last count.
 */
const filesMax = 2 * entryLimits.entriesMax;

/** `read` gets a file only when its entry can be the next. */
export function* newestFirst(files: readonly EntryFile[], read: ReadSummary): Generator<EntrySummary> {
  const ahead = oldestChangeFirst(files).slice(-filesMax);
  /** What has been read and is not the next yet, the newest last. */
  const found: EntrySummary[] = [];
  for (;;) {
    const file = ahead.at(-1);
    const newest = found.at(-1);
    if (newest !== undefined && (file === undefined || newest.updatedMs > latestUpdateMs(file))) {
      found.pop();
      yield newest;
    } else if (file !== undefined) {
      ahead.pop();
      const entry = read(file);
      // A person can write any time. Without this bound, such an entry would be in two pages, or in none.
      insert(found, { ...entry, updatedMs: Math.min(entry.updatedMs, latestUpdateMs(file)) });
    } else return;
  }
}

/** The newest entries that are wanted, at most `countMax`. */
export function newestEntries(
  files: readonly EntryFile[],
  read: ReadSummary,
  { countMax, isWanted = () => true }: { countMax: number; isWanted?: (entry: EntrySummary) => boolean },
): EntrySummary[] {
  const wanted: EntrySummary[] = [];
  if (countMax <= 0) return wanted;
  for (const entry of newestFirst(files, read)) {
    if (!isWanted(entry)) continue;
    wanted.push(entry);
    if (wanted.length >= countMax) break;
  }
  return wanted;
}

/** Whether an entry comes before another one. Entries of one time are in the order of their names. */
export function isNewer(
  a: Pick<EntrySummary, "updatedMs" | "name">,
  b: Pick<EntrySummary, "updatedMs" | "name">,
): boolean {
  return a.updatedMs === b.updatedMs ? a.name < b.name : a.updatedMs > b.updatedMs;
}

/** A change of this call has the time 0, and one that the host does not tell can be any time. */
const latestUpdateMs = ({ changedUs }: EntryFile): number =>
  changedUs ? Math.ceil(changedUs / 1_000) + clockLagMs : Infinity;

/** Sorts texts: in the engine, a comparison by a function takes ten times as long. */
function oldestChangeFirst(files: readonly EntryFile[]): EntryFile[] {
  const byKey = new Map(files.map((file) => [`${digits(file.changedUs)} ${file.name}`, file]));
  return Array.from(byKey.keys())
    .toSorted()
    .map((key) => byKey.get(key) as EntryFile);
}

/** As many as a time has until the year 2286. */
const digits = (changedUs: number | null): string => (changedUs ? String(changedUs).padStart(16, "0") : "9".repeat(16));

function insert(found: EntrySummary[], entry: EntrySummary): void {
  let [low, high] = [0, found.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isNewer(found[middle] as EntrySummary, entry)) high = middle;
    else low = middle + 1;
  }
  found.splice(low, 0, entry);
}
