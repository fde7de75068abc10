import { headAfter, parseLine } from "../../versions/version-line.ts";
import type { Version, VersionHead } from "../../versions/version.ts";
import type { HistoryFolder } from "./history-folder.ts";
import type { QueuedVersions } from "./queued-versions.ts";

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
    for (const each of versionsOf(history.lines("versions", first))) if (each.version.seq >= from) yield each;
  }
}

/** With those of the WAL, which count where both have a number: a crash can have torn what was being moved. */
export function* withQueued(
  stored: Iterable<StoredVersion>,
  queued: readonly QueuedVersions[],
): Generator<StoredVersion> {
  const first = queued[0]?.first ?? Infinity;
  for (const each of stored) if (each.version.seq < first) yield each;
  for (const { lines } of queued) yield* versionsOf(lines);
}

function* versionsOf(lines: readonly string[]): Generator<StoredVersion> {
  for (const line of lines) {
    const version = parseLine(line);
    if (version !== null) yield { version, head: headAfter(version, line) };
  }
}
