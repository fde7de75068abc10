import type { OriginClass } from "../../../../shared/origin.ts";
import type { PresentOrigins } from "../../versions/present-origins.ts";
import type { ContentBases } from "./content-bases.ts";

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
