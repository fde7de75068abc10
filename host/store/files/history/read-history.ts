/** Reads versions and contents, in the history and in the WAL. */
import type { Version } from "../../versions/version.ts";
import type { HistoryFolder } from "./history-folder.ts";
import type { QueuedVersions } from "./queued-versions.ts";
import { contentIn } from "./stored-contents.ts";
import { storedVersions, withQueued } from "./stored-versions.ts";

/** `queued`: the versions of the WAL, of which some can be in the history already. */
export interface WholeHistory {
  readonly history: HistoryFolder | null;
  readonly queued: readonly QueuedVersions[];
}

/** All versions, the oldest first. */
export function versionsIn({ history, queued }: WholeHistory): Version[] {
  const stored = history === null ? [] : storedVersions(history);
  return Array.from(withQueued(stored, queued), ({ version }) => version);
}

/** Contents by their hashes, without those that are not kept or are damaged. Reads each segment once. */
export function contentsOf({ history, queued }: WholeHistory, hashes: Iterable<string>): Map<string, Buffer> {
  const wanted = new Set(hashes);
  const found = new Map<string, Buffer>();
  const lookIn = (lines: readonly string[]): void => {
    for (const sha256 of wanted) {
      const content = contentIn(lines, sha256);
      if (content === null) continue;
      found.set(sha256, content);
      wanted.delete(sha256);
    }
  };
  const linesOf = (first: number | undefined): string[] =>
    history === null || first === undefined ? [] : history.lines("contents", first);
  const [last, ...others] = history?.segments("contents").toReversed() ?? [];
  // Those of the WAL can be told from the last ones of the history.
  lookIn([...linesOf(last), ...queued.flatMap(({ contents }) => contents)]);
  for (const first of others) if (wanted.size > 0) lookIn(linesOf(first));
  return found;
}
