/** Entries newest first: the order is that of a sort. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { isNewer, newestFirst } from "../../plugin/user-memory/newest-entries.ts";
import type { EntryFile, EntrySummary } from "../../plugin/user-memory/newest-entries.ts";
import { runs } from "../stage/random-runs.ts";

interface Stored {
  readonly changedMs: number;
  /** Absent: as `changedMs`, as for a file without front matter. */
  readonly updatedMs?: number;
}

/** What `newestFirst` gives for files, at most `countMax`. */
function newest(stored: readonly Stored[], { countMax = Infinity, isTimed = true } = {}): string[] {
  const files = stored.map(({ changedMs }, at): EntryFile => {
    return { name: nameOf(at), path: `${nameOf(at)}.md`, bytes: 1, changedUs: isTimed ? changedMs * 1_000 : null };
  });
  const names: string[] = [];
  const read = ({ name }: EntryFile): EntrySummary => summaryAt(stored, Number(name.slice(1)));
  for (const { name } of newestFirst(files, read)) {
    if (names.push(name) >= countMax) break;
  }
  return names;
}

const nameOf = (at: number): string => `e${String(at).padStart(4, "0")}`;

function summaryAt(stored: readonly Stored[], at: number): EntrySummary {
  const { changedMs = 0, updatedMs = changedMs } = stored[at] ?? {};
  const undated = { type: "user", description: "d", unreadable: null, created: null, updated: null } as const;
  return { name: nameOf(at), path: `${nameOf(at)}.md`, ...undated, updatedMs };
}

const sorted = (stored: readonly Stored[]): string[] =>
  stored
    .map((_, at) => summaryAt(stored, at))
    .toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
    .map(({ name }) => name);

const base = Date.UTC(2026, 0, 1);
const aMinute = 60_000;

/** Some are restored, so their last change is long after their last update; the clock can lag by up to 2 s. */
const anyFile = fc
  .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: -1_999, max: 20 * aMinute }), fc.boolean())
  .map(([minute, laterMs, isDated]): Stored => {
    const changedMs = base + minute * aMinute;
    return isDated ? { changedMs, updatedMs: changedMs - laterMs } : { changedMs };
  });

test("the order is that of a sort, with and without the times of changes", () => {
  fc.assert(
    fc.property(fc.array(anyFile, { maxLength: 60 }), fc.nat(60), fc.boolean(), (stored, countMax, isTimed) => {
      const names = newest(stored, { countMax: countMax + 1, isTimed });
      expect(names).toEqual(sorted(stored).slice(0, countMax + 1));
    }),
    runs(200),
  );
});

test("a file that this call has changed can be the newest", () => {
  const stored = [{ changedMs: base }, { changedMs: 0, updatedMs: base + aMinute }, { changedMs: base - aMinute }];
  expect(newest(stored)).toEqual(["e0001", "e0000", "e0002"]);
});
