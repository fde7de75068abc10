import { headAfter, parseLine } from "../../versions/version-line.ts";
import type { Version, VersionHead } from "../../versions/version.ts";
import type { HistoryFolder } from "./history-folder.ts";

export interface StoredVersion {
  readonly version: Version;
  readonly head: VersionHead;
}

/** The versions of a history from one number on, in order. What is no version's line is left out. */
export function* storedVersions(history: HistoryFolder, from = 1): Generator<StoredVersion> {
  const segments = history.segments("versions");
  for (const [at, first] of segments.entries()) {
    const next = segments[at + 1];
    if (next !== undefined && next <= from) continue;
    for (const line of history.lines("versions", first)) {
      const version = parseLine(line);
      if (version !== null && version.seq >= from) yield { version, head: headAfter(version, line) };
    }
  }
}

/** With those of the WAL, which count where both have a number: a crash can have torn what was being moved. */
export function* withQueued(
  stored: Iterable<StoredVersion>,
  queued: readonly StoredVersion[],
): Generator<StoredVersion> {
  const first = queued[0]?.version.seq ?? Infinity;
  for (const each of stored) if (each.version.seq < first) yield each;
  yield* queued;
}
