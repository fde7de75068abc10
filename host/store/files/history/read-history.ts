/** Reads versions and contents, in the history and in the WAL. */
import type { Version } from "../../versions/version.ts";
import type { HistoryFolder } from "./history-folder.ts";
import type { QueuedVersions } from "./queued-versions.ts";
import { contentIn, storedContent } from "./stored-contents.ts";
import { storedVersions, withQueued } from "./stored-versions.ts";

/** `queued`: the versions of the WAL, of which some can be in the history already. */
export interface WholeHistory {
  readonly history: HistoryFolder | null;
  readonly queued: readonly QueuedVersions[];
}

/** All versions, the oldest first. */
export function versionsIn({ history, queued }: WholeHistory): Version[] {
  const stored = history === null ? [] : storedVersions(history);
  const added = queued.flatMap(({ versions }) => versions);
  return Array.from(withQueued(stored, added), ({ version }) => version);
}

/** A content by its hash; `null` if it is not kept, or is damaged. */
export function contentOf({ history, queued }: WholeHistory, sha256: string): Buffer | null {
  const added = queued.flatMap(({ contents }) => contents);
  const last = history?.segments("contents").at(-1);
  const before = history === null || last === undefined ? [] : history.lines("contents", last);
  return contentIn([...before, ...added], sha256) ?? (history && storedContent(history, sha256));
}
