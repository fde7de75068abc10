import type { Pieces } from "../../../values/turns.ts";
import { PresentOrigins } from "../../versions/present-origins.ts";
import { lostTrust } from "../../versions/version.ts";
import type { VersionHead } from "../../versions/version.ts";
import type { HistoryEnd } from "../commit/wal-format.ts";
import type { Wal } from "../commit/wal.ts";
import type { HistoryFolder } from "./history-folder.ts";
import type { KnownHistory } from "./known-history.ts";
import { readPresent } from "./present-file.ts";
import type { QueuedVersions } from "./queued-versions.ts";
import { storedVersions, withQueued } from "./stored-versions.ts";

/** A segment that is larger gets no further versions. */
const segmentBytesMax = { versions: 256 * 1024, contents: 1024 * 1024 } as const;

export const isFullSegment = (history: HistoryFolder, first: number): boolean =>
  (["versions", "contents"] as const).some((kind) => history.bytesOf(kind, first) >= segmentBytesMax[kind]);

/** Where the versions of a home are. */
export interface HistoryPlace {
  readonly history: HistoryFolder | null;
  readonly wal: Wal | null;
  /** Those of the WAL, of which some can be in the history already. */
  readonly queued: readonly QueuedVersions[];
}

type LoadedHistory = Omit<KnownHistory, "bases" | "startsSegment" | "end">;

export function* loadHistory({ history, wal, queued }: HistoryPlace): Pieces<LoadedHistory> {
  const origins = (history && (yield* readPresent(history))) ?? new PresentOrigins();
  const stored = history === null ? [] : storedVersions(history, origins.head.seq + 1);
  // Whoever sets a WAL up makes the folder too.
  const hasNoFolder = history === null && wal !== null && wal.isSetUp && !wal.isOfEarlierVersion;
  // A WAL that is gone, or that somebody has emptied, had perhaps the last versions.
  const isWalGone = wal === null || (!wal.isSetUp && !wal.isRelaxed);
  const hasNoWal = isWalGone && history !== null && history.segments("versions").length > 0;
  const end = wal?.history ?? null;
  let isBroken = hasNoFolder || hasNoWal || history?.hasLost === true || end?.mark === "lost";
  isBroken ||= isOther(origins.head, end);
  let unwritten = 0;
  for (const { version, head } of withQueued(stored, queued)) {
    yield;
    if (version.seq <= origins.head.seq) continue;
    isBroken ||= version.seq !== origins.head.seq + 1 || version.prev !== origins.head.hash;
    isBroken ||= isOther(head, end);
    origins.add(version, head);
    unwritten++;
  }
  isBroken ||= end !== null && origins.head.seq < end.head.seq;
  const beganLate = history?.beganLate === true || wal?.isOfEarlierVersion === true || end?.mark === "late";
  const unknown = isBroken ? lostTrust : beganLate ? "unstated" : "owner_edit";
  return { origins, unknown, isBroken, unwritten };
}

/** Whether another version has the number of the one with which the history ended. */
const isOther = (head: VersionHead, end: HistoryEnd | null): boolean =>
  head.seq === end?.head.seq && head.hash !== end.head.hash;

/** What a WAL says of its history, once it has no versions of it any more. */
export const historyEnd = ({
  origins,
  isBroken,
  unknown,
}: Pick<LoadedHistory, "origins" | "isBroken" | "unknown">): HistoryEnd => ({
  head: origins.head,
  mark: isBroken ? "lost" : unknown === "owner_edit" ? "none" : "late",
});
