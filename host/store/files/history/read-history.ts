/** Reads versions and contents, in the history and in the WAL. */
import type { Pieces } from "../../../values/turns.ts";
import { headAfter, parseLine } from "../../versions/version-line.ts";
import type { Version, VersionHead } from "../../versions/version.ts";
import { contentIn, hashOfLine } from "./content-line.ts";
import type { HistoryFolder } from "./history-folder.ts";
import type { QueuedVersions } from "./queued-versions.ts";

/** `queued`: the versions of the WAL, of which some can be in the history already. */
export interface WholeHistory {
  readonly history: HistoryFolder | null;
  readonly queued: readonly QueuedVersions[];
}

/** All versions, the oldest first. */
export function* versionsIn({ history, queued }: WholeHistory): Pieces<Version[]> {
  const stored = history === null ? [] : storedVersions(history);
  const versions: Version[] = [];
  for (const { version } of withQueued(stored, queued)) {
    yield;
    versions.push(version);
  }
  return versions;
}

/** Contents by their hashes, without those that are not kept or are damaged. Reads each segment once. */
export function* contentsOf({ history, queued }: WholeHistory, hashes: Iterable<string>): Pieces<Map<string, Buffer>> {
  const wanted = new Set(hashes);
  const found = new Map<string, Buffer>();
  function* lookIn(lines: readonly string[]): Pieces<void> {
    for (const sha256 of new Set(lines.map(hashOfLine))) {
      if (!wanted.has(sha256)) continue;
      yield;
      const content = contentIn(lines, sha256);
      if (content === null) continue;
      found.set(sha256, content);
      wanted.delete(sha256);
    }
  }
  function* linesOf(first: number | undefined): Pieces<string[]> {
    return history === null || first === undefined ? [] : yield* history.readLines("contents", first);
  }
  const [last, ...others] = history?.segments("contents").toReversed() ?? [];
  // Those of the WAL can be told from the last ones of the history.
  yield* lookIn([...(yield* linesOf(last)), ...queued.flatMap(({ contents }) => contents)]);
  for (const first of others) if (wanted.size > 0) yield* lookIn(yield* linesOf(first));
  return found;
}

interface StoredVersion {
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
