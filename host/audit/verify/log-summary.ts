/** The summary of an audit log: the part of a report about what happened. */
import type { OriginClass } from "../../../shared/origin.ts";
import type { AuditRecord } from "../audit-record.ts";
import type { LogVerification } from "./verify-log.ts";

export interface ToolUse extends Pick<Counts, "calls" | "failed"> {
  /** `null` for calls without a valid tool name. */
  readonly tool: string | null;
  /** Milliseconds, with an error of at most 1 %. */
  readonly medianMs: number;
  readonly maxMs: number;
}

/** A capability use that was denied (`CAPABILITY_DENIED`) or failed. Scope and path are the guest's texts. */
export type UnfitUse = Omit<Extract<AuditRecord, { kind: "use" }>, "kind" | "prev">;

/** Requests of one kind that were refused before a tool was called. `lastTime` is that of the kind's last record. */
export interface RefusalCount extends Pick<Extract<AuditRecord, { kind: "refused" }>, "surface" | "reason" | "times"> {
  readonly lastTime: string;
}

/** What committed calls have changed: files, and grants of access to shared stores. */
export interface Changes {
  readonly written: number;
  /** Moved to the trash. */
  readonly trashed: number;
  /** Removed permanently, or restored from the trash, which also counts as written. */
  readonly removed: number;
  readonly granted: number;
}

/** What records add up to. */
export interface Counts {
  readonly calls: number;
  /** Those that ended with an error code. */
  readonly failed: number;
  /** Capability uses that were denied. */
  readonly denials: number;
  /** Requests that were refused before a tool was called. */
  readonly refused: number;
}

/** What the log says about one user. */
export interface UserCalls extends Changes, Counts {
  /** `null` for calls and refused requests without a valid user id. */
  readonly userId: string | null;
  /** The earliest and the latest time of these records. */
  readonly firstTime: string;
  readonly lastTime: string;
}

/** What the calls of one class of origin came to. Those of which nothing was told are `unstated`. */
export interface OriginCalls extends Changes, Counts {
  readonly class: OriginClass;
}

/** One call, without the names of the files. `seq` finds its record in the log. */
export interface ListedCall extends Changes, Pick<Extract<AuditRecord, { kind: "call" }>, CallField> {
  /** Capability uses that were denied. */
  readonly denials: number;
}

type CallField = "seq" | "time" | "callId" | "userId" | "tool" | "origin" | "code" | "durationMs";

/** A span of the timeline. The next one begins `bucketMs` later. */
export interface TimelineBucket extends Counts {
  /** ISO 8601, UTC, milliseconds. */
  readonly from: string;
}

/** What a whole log comes to. */
export interface LogSummary extends Counts, Changes {
  /** The earliest and the latest time of a record; `null` in an empty log. */
  readonly firstTime: string | null;
  readonly lastTime: string | null;
  /** The number of users in calls, counted up to 100,000. */
  readonly users: number;
  /** Sorted by number of calls, highest first; at most 100. */
  readonly tools: readonly ToolUse[];
  readonly toolsNotShown: number;
  /** Users with denials or refused requests first, then those with failed calls, then by calls; at most 500. */
  readonly callsByUser: readonly UserCalls[];
  readonly usersNotShown: number;
  /** From the most trusted class to the least. Empty if no call has an origin. */
  readonly callsByOrigin: readonly OriginCalls[];
  /**
   * In the order of the log: the latest 4,000, and before them at most 1,000 earlier ones that failed or were denied a
   * capability.
   */
  readonly latestCalls: readonly ListedCall[];
  readonly callsNotShown: number;
  /** Capability uses that failed otherwise than by a denial. */
  readonly failedUses: number;
  /** The latest, in the order of the log; at most 200. */
  readonly unfitUses: readonly UnfitUse[];
  readonly unfitUsesNotShown: number;
  /** By surface and reason, highest number first; at most 100. */
  readonly refusals: readonly RefusalCount[];
  /** Refused requests of other kinds. */
  readonly refusedNotShown: number;
  /** At most 96 spans, without gaps; none in a log without calls, uses and refused requests. */
  readonly timeline: { readonly bucketMs: number; readonly buckets: readonly TimelineBucket[] };
  /** Records that could not be written while calls continued. */
  readonly lostRecords: number;
  readonly verification: LogVerification;
}
