import { createHistogram } from "node:perf_hooks";
import type { RecordableHistogram } from "node:perf_hooks";

import { auditLimits } from "../../../shared/limits.ts";
import type { AuditRecord } from "../audit-record.ts";
import { CallsByOrigin } from "./calls-by-origin.ts";
import { CallsByUser } from "./calls-by-user.ts";
import { LatestCalls } from "./latest-calls.ts";
import type { LogSummary, RefusalCount, ToolUse, UnfitUse } from "./log-summary.ts";
import { Timeline } from "./timeline.ts";
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
