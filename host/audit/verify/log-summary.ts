/** What an audit log says as a whole: the part of a report that is about what has happened. */
import type { AuditRecord } from "../audit-record.ts";
import type { LogVerification } from "./findings.ts";

export interface ToolUse {
  /** `null`: calls of what is no tool's name. */
  readonly tool: string | null;
  readonly calls: number;
  /** Those that ended with an error code. */
  readonly failed: number;
  /** Milliseconds, at most 1 % beside the true one. */
  readonly medianMs: number;
  readonly maxMs: number;
}

/** A capability use that was denied (`CAPABILITY_DENIED`), or that failed. Scope and path are what the guest named. */
export type UnfitUse = Omit<Extract<AuditRecord, { kind: "use" }>, "kind" | "prev">;

/** Requests that were refused before any tool was called, of one kind; of the last record of the kind its time. */
export interface RefusalCount extends Pick<Extract<AuditRecord, { kind: "refused" }>, "surface" | "reason" | "times"> {
  readonly lastTime: string;
}

/** A span of the timeline; `bucketMs` later the next begins. */
export interface TimelineBucket {
  /** ISO 8601, UTC, milliseconds. */
  readonly from: string;
  readonly calls: number;
  readonly failed: number;
  /** Capability uses that were denied. */
  readonly denials: number;
  /** Requests that were refused before any tool was called. */
  readonly refused: number;
}

export interface LogSummary {
  /** Of the first and the last record by their time; `null` in a log without any. */
  readonly firstTime: string | null;
  readonly lastTime: string | null;
  readonly calls: number;
  readonly failed: number;
  /** Users who are named in calls; when there are more than 100,000, that number. */
  readonly users: number;
  /** By number of calls, the most first; at most 100. */
  readonly tools: readonly ToolUse[];
  readonly toolsNotShown: number;
  /** Capability uses that were denied, and those that failed otherwise. */
  readonly denials: number;
  readonly failedUses: number;
  /** The latest, in the order of the log; at most 200. */
  readonly unfitUses: readonly UnfitUse[];
  readonly unfitUsesNotShown: number;
  /** Requests that were refused before any tool was called. */
  readonly refused: number;
  /** By surface and reason, the most first; at most 100. */
  readonly refusals: readonly RefusalCount[];
  /** Requests of kinds that are not among them. */
  readonly refusedNotShown: number;
  /** At most 96 spans, without gaps; none in a log without calls and uses. */
  readonly timeline: { readonly bucketMs: number; readonly buckets: readonly TimelineBucket[] };
  /** Records that were not written while calls went on without. */
  readonly lostRecords: number;
  readonly verification: LogVerification;
}
