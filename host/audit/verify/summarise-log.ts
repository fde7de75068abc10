import { createHistogram } from "node:perf_hooks";
import type { RecordableHistogram } from "node:perf_hooks";

import { auditLimits } from "../../../shared/limits.ts";
import { originClasses } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { AuditRecord, RecordOf } from "../audit-record.ts";
import { verifyLog } from "./verify-log.ts";
import type { LogVerification } from "./verify-log.ts";

export interface ToolUse extends Pick<Counts, "calls" | "failed"> {
  /** `null` for calls without a valid tool name. */
  readonly tool: string | null;
  /** Milliseconds, with an error of at most 1 %. */
  readonly medianMs: number;
  readonly maxMs: number;
}

/** A capability use that was denied (`CAPABILITY_DENIED`) or failed. Scope and path are the guest's texts. */
export type UnfitUse = Omit<RecordOf<"use">, "kind" | "prev">;

/** Requests of one kind that were refused before a tool was called. `lastTime` is that of the kind's last record. */
export interface RefusalCount extends Pick<RecordOf<"refused">, "surface" | "reason" | "times"> {
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

/** What records add up to: all of them, or those of a user, of a class of origin, or of a span of time. */
export interface Counts extends Changes {
  readonly calls: number;
  /** Those that ended with an error code. */
  readonly failed: number;
  /** Capability uses that were denied. */
  readonly denials: number;
  /** Requests that were refused before a tool was called. */
  readonly refused: number;
}

/** What the log says about one user. */
export interface UserCalls extends Counts {
  /** `null` for calls and refused requests without a valid user id. */
  readonly userId: string | null;
  /** The earliest and the latest time of these records. */
  readonly firstTime: string;
  readonly lastTime: string;
}

/** What the calls of one class of origin came to. Those of which nothing was told are `unstated`. */
export type OriginCalls = Counts & { readonly class: OriginClass };

/** One call, without the names of the files. `seq` finds its record in the log. */
export interface ListedCall extends Changes, Pick<Counts, "denials">, Pick<RecordOf<"call">, CallField> {}

type CallField = "seq" | "time" | "callId" | "userId" | "tool" | "origin" | "code" | "durationMs";

/** A span of the timeline. The next one begins `bucketMs` later. */
export interface TimelineBucket extends Counts {
  /** ISO 8601, UTC, milliseconds. */
  readonly from: string;
}

/** What a whole log comes to. */
export interface LogSummary extends Counts {
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
  /** In the order of the log: the latest 4,000, and before them 1,000 that failed or were denied a capability. */
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

/**
 * Summarises and verifies an audit log. Uses bounded memory, whatever the log's size. Throws as `verifyLog` does.
 *
 * @example
 * const { calls, denials, verification } = summariseLog(["log/audit.jsonl"]);
 */
export function summariseLog(paths: readonly string[]): LogSummary {
  const sums = new Sums();
  const verification = verifyLog(paths, { onRecord: (record) => sums.add(record) });
  return { ...sums.result(), verification };
}

type Counted = RecordOf<"call" | "use" | "refused">;

const noChanges: Changes = { written: 0, trashed: 0, removed: 0, granted: 0 };
const nothing: Counts = { calls: 0, failed: 0, denials: 0, refused: 0, ...noChanges };
const names = Object.keys(nothing) as (keyof Counts)[];

function addTo(sums: Mutable<Counts>, more: Counts): void {
  for (const name of names) sums[name] += more[name];
}

function countsOf(record: Counted): Counts {
  if (record.kind === "refused") return { ...nothing, refused: record.times };
  if (record.kind === "use") return { ...nothing, denials: record.code === "CAPABILITY_DENIED" ? 1 : 0 };
  return { ...nothing, calls: 1, failed: record.code === null ? 0 : 1, ...changesOf(record) };
}

/** Counts what a call has changed. A call that was not committed has changed nothing, whatever it staged. */
function changesOf(call: RecordOf<"call">): Changes {
  if (call.changes !== "committed") return noChanges;
  const { writes, trashed, removed, granted = [] } = call;
  return { written: writes.length, trashed: trashed.length, removed: removed.length, granted: granted.length };
}

/** The value of a key, made if there is room for it; `undefined` beyond the maximum. */
function valueIn<Key, Of>(map: Map<Key, Of>, key: Key, max: number, make: () => Of): Of | undefined {
  const known = map.get(key);
  if (known !== undefined || map.size === max) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Adds an item at the end. Beyond the maximum, removes and returns the first one. */
function pushOver<Item>(items: Item[], item: Item, max: number): Item | undefined {
  items.push(item);
  return items.length > max ? items.shift() : undefined;
}

interface ToolSums {
  failed: number;
  maxMs: number;
  /** The durations of all calls in microseconds, each kept to two digits. */
  readonly durationsUs: RecordableHistogram;
}

/** 2^31 milliseconds (25 days), in microseconds. */
const durationUsMax = 2 ** 31 * 1000;

function newToolSums(): ToolSums {
  return { failed: 0, maxMs: 0, durationsUs: createHistogram({ lowest: 1, highest: durationUsMax, figures: 2 }) };
}

type WholeSums = Pick<LogSummary, keyof Counts | "firstTime" | "lastTime" | "failedUses" | "lostRecords">;
type Mutable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

class Sums {
  readonly #all: Mutable<WholeSums> = { firstTime: null, lastTime: null, ...nothing, failedUses: 0, lostRecords: 0 };
  readonly #users = new Map<string | null, Mutable<UserCalls>>();
  readonly #origins = new Map<OriginClass, Mutable<Counts>>();
  #isOriginTold = false;
  readonly #latestCalls: ListedCall[] = [];
  /** Those of earlier calls that failed or were denied a capability. */
  readonly #faultyCalls: ListedCall[] = [];
  readonly #tools = new Map<string | null, ToolSums>();
  /** Tools beyond the maximum. */
  readonly #toolsNotShown = new Set<string | null>();
  readonly #unfitUses: UnfitUse[] = [];
  readonly #refusals = new Map<string, Mutable<RefusalCount>>();
  readonly #timeline = new Timeline();

  add(record: AuditRecord): void {
    const { time } = record;
    const all = this.#all;
    if (all.firstTime === null || time < all.firstTime) all.firstTime = time;
    if (all.lastTime === null || time > all.lastTime) all.lastTime = time;
    if (record.kind === "lost") all.lostRecords += record.records;
    if (record.kind !== "call" && record.kind !== "use" && record.kind !== "refused") return;
    const counts = countsOf(record);
    addTo(all, counts);
    this.#timeline.add(time, counts);
    if (record.kind !== "use" || counts.denials > 0) this.#addUser(record, counts);
    if (record.kind === "call") this.#addCall(record, counts);
    if (record.kind === "use") this.#addUse(record, counts);
    if (record.kind === "refused") this.#addRefused(record);
  }

  result(): Omit<LogSummary, "verification"> {
    const { calls, denials, failedUses, refused } = this.#all;
    const users = [...this.#users.values()];
    const callsByUser = users.toSorted(byNotice).slice(0, auditLimits.usersShownMax);
    const refusals = [...this.#refusals.values()].toSorted((a, b) => b.times - a.times);
    const latestCalls = [...this.#faultyCalls, ...this.#latestCalls];
    return {
      ...this.#all,
      users: users.filter((user) => user.userId !== null && user.calls > 0).length,
      callsByUser,
      usersNotShown: users.length - callsByUser.length,
      callsByOrigin: this.#byOrigin(),
      tools: Array.from(this.#tools, toolUse).toSorted((a, b) => b.calls - a.calls),
      toolsNotShown: this.#toolsNotShown.size,
      latestCalls,
      callsNotShown: calls - latestCalls.length,
      unfitUses: this.#unfitUses,
      unfitUsesNotShown: denials + failedUses - this.#unfitUses.length,
      refusals,
      refusedNotShown: refused - refusals.reduce((sum, { times }) => sum + times, 0),
      timeline: this.#timeline.result(),
    };
  }

  #addUser({ userId, time }: Counted, counts: Counts): void {
    const begin = (): Mutable<UserCalls> => ({ userId, ...nothing, firstTime: time, lastTime: time });
    const user = valueIn(this.#users, userId, auditLimits.usersCountedMax, begin);
    if (user === undefined) return;
    addTo(user, counts);
    if (time < user.firstTime) user.firstTime = time;
    if (time > user.lastTime) user.lastTime = time;
  }

  #addCall(call: RecordOf<"call">, counts: Counts): void {
    this.#isOriginTold ||= call.origin !== undefined;
    const origin = valueIn(this.#origins, call.origin?.class ?? "unstated", Infinity, () => ({ ...nothing }));
    if (origin) addTo(origin, counts);
    const before = pushOver(this.#latestCalls, listed(call), auditLimits.callsShownMax);
    if (before && (before.code !== null || before.denials > 0))
      pushOver(this.#faultyCalls, before, auditLimits.faultyCallsShownMax);
    this.#addTool(call, counts.failed);
  }

  #addTool({ tool, durationMs }: RecordOf<"call">, failed: number): void {
    const sums = valueIn(this.#tools, tool, auditLimits.toolsShownMax, newToolSums);
    if (sums) {
      sums.failed += failed;
      sums.maxMs = Math.max(sums.maxMs, durationMs);
      sums.durationsUs.record(Math.min(Math.max(Math.round(durationMs * 1000), 1), durationUsMax));
    } else if (this.#toolsNotShown.size < auditLimits.usersCountedMax) this.#toolsNotShown.add(tool);
  }

  #addUse({ kind: _kind, prev: _prev, ...use }: RecordOf<"use">, { denials }: Counts): void {
    this.#all.failedUses += 1 - denials;
    pushOver(this.#unfitUses, use, auditLimits.unfitUsesMax);
  }

  #addRefused({ surface, reason, times, time }: RecordOf<"refused">): void {
    const begin = (): Mutable<RefusalCount> => ({ surface, reason, times: 0, lastTime: time });
    const kind = valueIn(this.#refusals, `${surface} ${reason}`, auditLimits.refusalsToldMax, begin);
    if (kind === undefined) return;
    kind.times += times;
    if (time > kind.lastTime) kind.lastTime = time;
  }

  #byOrigin(): LogSummary["callsByOrigin"] {
    // Most programs say nothing, and a table with one row of all calls would tell nothing.
    if (!this.#isOriginTold) return [];
    return originClasses.flatMap((each) => {
      const sums = this.#origins.get(each);
      return sums ? [{ class: each, ...sums }] : [];
    });
  }
}

function toolUse([tool, { failed, maxMs, durationsUs }]: [string | null, ToolSums]): ToolUse {
  const medianMs = Math.min(durationsUs.percentile(50) / 1000, maxMs);
  return { tool, calls: durationsUs.count, failed, medianMs, maxMs };
}

/** Users whom a reviewer should see come first, so that they are not left out. */
function byNotice(a: UserCalls, b: UserCalls): number {
  return b.denials + b.refused - (a.denials + a.refused) || b.failed - a.failed || b.calls - a.calls;
}

function listed(call: RecordOf<"call">): ListedCall {
  const { seq, time, callId, userId, tool, origin, code, durationMs, usesDenied } = call;
  return { seq, time, callId, userId, tool, origin, code, denials: usesDenied, ...changesOf(call), durationMs };
}

const minuteMs = 60_000;
/** The possible lengths of a bucket: minutes, then hours, days, weeks. Each is a multiple of the one before it. */
const widthsMs = [1, 5, 15, 60, 6 * 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * minuteMs);

/** Counts over time. When there are too many buckets, they become wider, so a timeline has a bounded size. */
class Timeline {
  #bucketMs = minuteMs;
  #buckets = new Map<number, Mutable<Counts>>();

  /** `time` has the format of a record's time. That format allows dates that do not exist, which are ignored. */
  add(time: string, counts: Counts): void {
    const epochMs = Date.parse(time);
    if (Number.isNaN(epochMs)) return;
    this.#addTo(Math.floor(epochMs / this.#bucketMs), counts);
    while (this.#span().length > auditLimits.timelineBucketsMax) this.#widen();
  }

  result(): LogSummary["timeline"] {
    const { first, length } = this.#span();
    const from = (index: number): string => new Date(index * this.#bucketMs).toISOString();
    const bucket = (index: number): TimelineBucket => ({ from: from(index), ...(this.#buckets.get(index) ?? nothing) });
    const buckets = Array.from({ length }, (_, at) => bucket(first + at));
    return { bucketMs: this.#bucketMs, buckets };
  }

  #addTo(index: number, counts: Counts): void {
    const sums = valueIn(this.#buckets, index, Infinity, () => ({ ...nothing }));
    if (sums) addTo(sums, counts);
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
