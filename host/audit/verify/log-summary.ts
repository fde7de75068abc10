/** The summary of an audit log: the part of a report about what happened. */
import type { AuditRecord } from "../audit-record.ts";
import type { LogVerification } from "./findings.ts";

export interface ToolUse {
  /** `null` for calls without a valid tool name. */
  readonly tool: string | null;
  readonly calls: number;
  /** Those that ended with an error code. */
  readonly failed: number;
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

/** A span of the timeline. The next one begins `bucketMs` later. */
export interface TimelineBucket {
  /** ISO 8601, UTC, milliseconds. */
  readonly from: string;
  readonly calls: number;
  readonly failed: number;
  /** Capability uses that were denied. */
  readonly denials: number;
  /** Requests that were refused before a tool was called. */
  readonly refused: number;
}

export interface LogSummary {
  /** The earliest and the latest time of a record; `null` in an empty log. */
  readonly firstTime: string | null;
  readonly lastTime: string | null;
  readonly calls: number;
  readonly failed: number;
  /** The number of users in calls, counted up to 100,000. */
  readonly users: number;
  /** Sorted by number of calls, highest first; at most 100. */
  readonly tools: readonly ToolUse[];
  readonly toolsNotShown: number;
  /** Capability uses that were denied, and those that failed otherwise. */
  readonly denials: number;
  readonly failedUses: number;
  /** The latest, in the order of the log; at most 200. */
  readonly unfitUses: readonly UnfitUse[];
  readonly unfitUsesNotShown: number;
  /** Requests that were refused before a tool was called. */
  readonly refused: number;
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
