import { createHistogram } from "node:perf_hooks";
import type { RecordableHistogram } from "node:perf_hooks";

import { auditLimits } from "../../../shared/limits.ts";
import { originClasses } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { AuditRecord } from "../audit-record.ts";
import type {
  Changes,
  ListedCall,
  LogSummary,
  OriginCalls,
  RefusalCount,
  TimelineBucket,
  ToolUse,
  UnfitUse,
  UserCalls,
} from "./log-summary.ts";
import { verifyLog } from "./verify-log.ts";
import type { VerifyOptions } from "./verify-log.ts";

/**
 * Summarises and verifies an audit log. Uses bounded memory, whatever the log's size.
 *
 * Throws as `verifyLog` does.
 *
 * @example
 * const { calls, denials, verification } = summariseLog(["log/audit.jsonl"]);
 */
export function summariseLog(paths: readonly string[], options: Omit<VerifyOptions, "onRecord"> = {}): LogSummary {
  const sums = new Sums();
  const verification = verifyLog(paths, { ...options, onRecord: (record) => sums.add(record) });
  return { ...sums.result(), verification };
}

type RecordOf<Kind> = Extract<AuditRecord, { kind: Kind }>;

class Sums {
  #firstTime: string | null = null;
  #lastTime: string | null = null;
  #failed = 0;
  #calls = 0;
  readonly #users = new CallsByUser();
  readonly #origins = new CallsByOrigin();
  readonly #latestCalls = new LatestCalls();
  readonly #tools = new Map<string | null, ToolSums>();
  /** Tools beyond the maximum. */
  readonly #toolsNotShown = new Set<string | null>();
  #denials = 0;
  #failedUses = 0;
  readonly #unfitUses: UnfitUse[] = [];
  #refused = 0;
  readonly #refusals = new Map<string, RefusalCount>();
  readonly #timeline = new Timeline(auditLimits.timelineBucketsMax);
  #lostRecords = 0;

  add(record: AuditRecord): void {
    const { time } = record;
    if (this.#firstTime === null || time < this.#firstTime) this.#firstTime = time;
    if (this.#lastTime === null || time > this.#lastTime) this.#lastTime = time;
    if (record.kind === "call") this.#addCall(record);
    if (record.kind === "use") this.#addUse(record);
    if (record.kind === "refused") this.#addRefused(record);
    if (record.kind === "lost") this.#lostRecords += record.records;
  }

  result(): Omit<LogSummary, "verification"> {
    const refusals = [...this.#refusals.values()].toSorted((a, b) => b.times - a.times);
    return {
      firstTime: this.#firstTime,
      lastTime: this.#lastTime,
      calls: this.#calls,
      failed: this.#failed,
      ...this.#users.result(),
      ...this.#origins.result(),
      tools: Array.from(this.#tools, toolUse).toSorted((a, b) => b.calls - a.calls),
      toolsNotShown: this.#toolsNotShown.size,
      ...this.#latestCalls.result(),
      denials: this.#denials,
      failedUses: this.#failedUses,
      unfitUses: this.#unfitUses,
      unfitUsesNotShown: this.#denials + this.#failedUses - this.#unfitUses.length,
      refused: this.#refused,
      refusals,
      refusedNotShown: this.#refused - refusals.reduce((sum, { times }) => sum + times, 0),
      timeline: this.#timeline.result(),
      lostRecords: this.#lostRecords,
    };
  }

  #addCall(call: RecordOf<"call">): void {
    const { time, tool, code, durationMs } = call;
    const failed = code === null ? 0 : 1;
    this.#calls++;
    this.#failed += failed;
    this.#users.addCall(call);
    this.#origins.add(call);
    this.#latestCalls.add(call);
    const sums = this.#toolSums(tool);
    if (sums) {
      sums.failed += failed;
      sums.maxMs = Math.max(sums.maxMs, durationMs);
      sums.durationsUs.record(Math.min(Math.max(Math.round(durationMs * 1000), 1), durationUsMax));
    }
    this.#timeline.add(time, { calls: 1, failed });
  }

  #toolSums(tool: string | null): ToolSums | null {
    const known = this.#tools.get(tool);
    if (known) return known;
    if (this.#tools.size === auditLimits.toolsShownMax) {
      if (this.#toolsNotShown.size < auditLimits.usersCountedMax) this.#toolsNotShown.add(tool);
      return null;
    }
    const durationsUs = createHistogram({ lowest: 1, highest: durationUsMax, figures: 2 });
    const sums = { failed: 0, maxMs: 0, durationsUs };
    this.#tools.set(tool, sums);
    return sums;
  }

  #addUse(record: RecordOf<"use">): void {
    const { kind: _kind, prev: _prev, ...use } = record;
    const denials = use.code === "CAPABILITY_DENIED" ? 1 : 0;
    if (denials > 0) this.#users.addDenial(record);
    this.#denials += denials;
    this.#failedUses += 1 - denials;
    this.#unfitUses.push(use);
    if (this.#unfitUses.length > auditLimits.unfitUsesMax) this.#unfitUses.shift();
    this.#timeline.add(use.time, { denials });
  }

  #addRefused(request: RecordOf<"refused">): void {
    const { surface, reason, times, time } = request;
    this.#users.addRefused(request);
    this.#refused += times;
    this.#timeline.add(time, { refused: times });
    const kind = `${surface} ${reason}`;
    const known = this.#refusals.get(kind);
    if (!known && this.#refusals.size === auditLimits.refusalsToldMax) return;
    const lastTime = known && known.lastTime > time ? known.lastTime : time;
    this.#refusals.set(kind, { surface, reason, times: (known?.times ?? 0) + times, lastTime });
  }
}

interface ToolSums {
  failed: number;
  maxMs: number;
  /** The durations of all calls in microseconds, each kept to two digits. */
  readonly durationsUs: RecordableHistogram;
}

/** 2^31 milliseconds (25 days), in microseconds. */
const durationUsMax = 2 ** 31 * 1000;

function toolUse([tool, { failed, maxMs, durationsUs }]: [string | null, ToolSums]): ToolUse {
  const medianMs = Math.min(durationsUs.percentile(50) / 1000, maxMs);
  return { tool, calls: durationsUs.count, failed, medianMs, maxMs };
}

type UserSums = { -readonly [Key in keyof Omit<UserCalls, "userId">]: UserCalls[Key] };

/** Sums for each user of a log, up to a maximum of users. */
class CallsByUser {
  readonly #sums = new Map<string | null, UserSums>();

  addCall(call: RecordOf<"call">): void {
    const sums = this.#sumsOf(call);
    if (!sums) return;
    sums.calls++;
    if (call.code !== null) sums.failed++;
    Object.assign(sums, together(sums, changesOf(call)));
  }

  addDenial(use: RecordOf<"use">): void {
    const sums = this.#sumsOf(use);
    if (sums) sums.denials++;
  }

  addRefused(request: RecordOf<"refused">): void {
    const sums = this.#sumsOf(request);
    if (sums) sums.refused += request.times;
  }

  result(): Pick<LogSummary, "users" | "callsByUser" | "usersNotShown"> {
    const all = Array.from(this.#sums, ([userId, sums]): UserCalls => ({ userId, ...sums }));
    const shown = all.toSorted(byNotice).slice(0, auditLimits.usersShownMax);
    return {
      users: all.filter(({ userId, calls }) => userId !== null && calls > 0).length,
      callsByUser: shown,
      usersNotShown: all.length - shown.length,
    };
  }

  /** `undefined` for a user beyond the maximum. */
  #sumsOf({ userId, time }: Pick<RecordOf<"call">, "userId" | "time">): UserSums | undefined {
    const known = this.#sums.get(userId);
    if (known) {
      if (time < known.firstTime) known.firstTime = time;
      if (time > known.lastTime) known.lastTime = time;
      return known;
    }
    if (this.#sums.size === auditLimits.usersCountedMax) return undefined;
    const sums = { ...nothing, firstTime: time, lastTime: time };
    this.#sums.set(userId, sums);
    return sums;
  }
}

const noChanges: Changes = { written: 0, trashed: 0, removed: 0, granted: 0 };
const nothing = { calls: 0, failed: 0, denials: 0, refused: 0, ...noChanges };

/** Users whom a reviewer should see come first, so that they are not left out. */
function byNotice(a: UserCalls, b: UserCalls): number {
  return b.denials + b.refused - (a.denials + a.refused) || b.failed - a.failed || b.calls - a.calls;
}

/** Sums up calls by the class of their origin. */
class CallsByOrigin {
  readonly #sums = new Map<OriginClass, OriginCalls>();
  #isAnyTold = false;

  add(call: RecordOf<"call">): void {
    const { class: of } = call.origin ?? { class: "unstated" };
    this.#isAnyTold ||= call.origin !== undefined;
    const { calls, ...before } = this.#sums.get(of) ?? { calls: 0, ...noChanges };
    this.#sums.set(of, { class: of, calls: calls + 1, ...together(before, changesOf(call)) });
  }

  result(): Pick<LogSummary, "callsByOrigin"> {
    // Most programs say nothing, and a table with one row of all calls would tell nothing.
    if (!this.#isAnyTold) return { callsByOrigin: [] };
    return { callsByOrigin: originClasses.flatMap((each) => this.#sums.get(each) ?? []) };
  }
}

/** Keeps the latest calls, and for longer those that failed or were denied a capability. */
class LatestCalls {
  #count = 0;
  readonly #latest: ListedCall[] = [];
  /** Earlier than all of the latest. */
  readonly #faulty: ListedCall[] = [];

  add(call: RecordOf<"call">): void {
    this.#count++;
    this.#latest.push(listed(call));
    if (this.#latest.length <= auditLimits.callsShownMax) return;
    const before = this.#latest.shift();
    if (before && isFaulty(before)) this.#faulty.push(before);
    if (this.#faulty.length > auditLimits.faultyCallsShownMax) this.#faulty.shift();
  }

  result(): Pick<LogSummary, "latestCalls" | "callsNotShown"> {
    const latestCalls = [...this.#faulty, ...this.#latest];
    return { latestCalls, callsNotShown: this.#count - latestCalls.length };
  }
}

function listed(call: RecordOf<"call">): ListedCall {
  const { seq, time, callId, userId, tool, origin, code, durationMs, usesDenied } = call;
  return { seq, time, callId, userId, tool, origin, code, denials: usesDenied, ...changesOf(call), durationMs };
}

const isFaulty = ({ code, denials }: ListedCall): boolean => code !== null || denials > 0;

/** Counts what a call has changed. A call that was not committed has changed nothing, whatever it staged. */
function changesOf(call: RecordOf<"call">): Changes {
  if (call.changes !== "committed") return noChanges;
  const { writes, trashed, removed, granted = [] } = call;
  return { written: writes.length, trashed: trashed.length, removed: removed.length, granted: granted.length };
}

const together = (a: Changes, b: Changes): Changes => ({
  written: a.written + b.written,
  trashed: a.trashed + b.trashed,
  removed: a.removed + b.removed,
  granted: a.granted + b.granted,
});

const minuteMs = 60_000;
/** The possible lengths of a bucket: minutes, then hours, days, weeks. Each is a multiple of the one before it. */
const widthsMs = [1, 5, 15, 60, 6 * 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * minuteMs);

type Counts = Pick<TimelineBucket, "calls" | "failed" | "denials" | "refused">;

/** Counts over time. When there are too many buckets, they become wider, so a timeline has a bounded size. */
class Timeline {
  readonly #bucketsMax: number;
  #bucketMs = minuteMs;
  #buckets = new Map<number, Counts>();

  constructor(bucketsMax: number) {
    this.#bucketsMax = bucketsMax;
  }

  /** `time` has the format of a record's time. That format allows dates that do not exist, which are ignored. */
  add(time: string, counts: Partial<Counts>): void {
    const epochMs = Date.parse(time);
    if (Number.isNaN(epochMs)) return;
    this.#addTo(Math.floor(epochMs / this.#bucketMs), counts);
    while (this.#span().length > this.#bucketsMax) this.#widen();
  }

  result(): { bucketMs: number; buckets: TimelineBucket[] } {
    const { first, length } = this.#span();
    const buckets = Array.from({ length }, (_, at) => ({
      from: new Date((first + at) * this.#bucketMs).toISOString(),
      ...(this.#buckets.get(first + at) ?? noCounts),
    }));
    return { bucketMs: this.#bucketMs, buckets };
  }

  #addTo(index: number, { calls = 0, failed = 0, denials = 0, refused = 0 }: Partial<Counts>): void {
    const sum = this.#buckets.get(index) ?? noCounts;
    this.#buckets.set(index, {
      calls: sum.calls + calls,
      failed: sum.failed + failed,
      denials: sum.denials + denials,
      refused: sum.refused + refused,
    });
  }

  /** From the first bucket to the last, including empty ones. */
  #span(): { first: number; length: number } {
    if (this.#buckets.size === 0) return { first: 0, length: 0 };
    const first = Math.min(...this.#buckets.keys());
    return { first, length: Math.max(...this.#buckets.keys()) - first + 1 };
  }

  #widen(): void {
    const before = this.#bucketMs;
    this.#bucketMs = widthsMs.find((widthMs) => widthMs > before) ?? before * 2;
    const buckets = this.#buckets;
    this.#buckets = new Map();
    for (const [index, counts] of buckets) this.#addTo(Math.floor((index * before) / this.#bucketMs), counts);
  }
}

const noCounts: Counts = { calls: 0, failed: 0, denials: 0, refused: 0 };
