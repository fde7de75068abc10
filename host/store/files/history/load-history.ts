import type { OriginClass } from "../../../../shared/origin.ts";
import type { Pieces } from "../../../values/turns.ts";
import { PresentOrigins } from "../../versions/present-origins.ts";
import { lostTrust } from "../../versions/version.ts";
import type { VersionHead } from "../../versions/version.ts";
import type { HistoryEnd } from "../commit/wal-format.ts";
import type { Wal } from "../commit/wal.ts";
import type { ContentBases } from "./content-bases.ts";
import type { HistoryFolder } from "./history-folder.ts";
import { readPresent } from "./present-file.ts";
import type { QueuedVersions } from "./queued-versions.ts";
import { storedVersions, withQueued } from "./read-history.ts";

/** A segment that is larger gets no further versions. */
const segmentBytesMax = { versions: 256 * 1024, contents: 1024 * 1024 } as const;

export const isFullSegment = (history: HistoryFolder, first: number): boolean =>
  (["versions", "contents"] as const).some((kind) => history.bytesOf(kind, first) >= segmentBytesMax[kind]);

/** How a process has left the last segment of versions. As long as that is its size, nothing was moved to it since. */
export interface SegmentEnd {
  /** The number of its first version. */
  readonly first: number;
  readonly bytes: number;
  /** The number of the first version that was not moved yet. A WAL that could not be retired has earlier ones again. */
  readonly next: number;
}

/** What is known of a home's history. */
export interface KnownHistory {
  readonly origins: PresentOrigins;
  /** Where a file comes from that no version knows. */
  readonly unknown: OriginClass;
  /** Versions are missing, or were changed. */
  readonly isBroken: boolean;
  readonly bases: ContentBases;
  /** The next versions begin another segment. */
  startsSegment: boolean;
  /** How this process has left the last segment; `null` if it has not moved versions yet. */
  end: SegmentEnd | null;
  /** Versions since `present.json` was written. */
  unwritten: number;
}

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
