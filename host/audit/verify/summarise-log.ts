import { auditLimits } from "../../../shared/limits.ts";
import type { AuditRecord } from "../audit-record.ts";
import { DurationHistogram } from "./duration-histogram.ts";
import type { LogSummary, ToolUse, UnfitUse } from "./log-summary.ts";
import { RefusalSums } from "./refusal-sums.ts";
import { Timeline } from "./timeline.ts";
import { verifyLog } from "./verify-log.ts";
import type { VerifyOptions } from "./verify-log.ts";

/**
 * What an audit log says as a whole, and whether it can be believed: it is verified on the way. In bounded memory, whatever
 * the log's size.
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

class Sums {
  #firstTime: string | null = null;
  #lastTime: string | null = null;
  #calls = 0;
  #failed = 0;
  #denials = 0;
  #failedUses = 0;
  #lostRecords = 0;
  readonly #users = new Set<string>();
  readonly #tools = new Map<string | null, ToolSums>();
  /** Calls of tools that came when there was no room for more. */
  readonly #toolsNotShown = new Set<string | null>();
  #unfitUses: UnfitUse[] = [];
  readonly #refusals = new RefusalSums();
  readonly #timeline = new Timeline(auditLimits.timelineBucketsMax);

  add(record: AuditRecord): void {
    if (this.#firstTime === null || record.time < this.#firstTime) this.#firstTime = record.time;
    if (this.#lastTime === null || record.time > this.#lastTime) this.#lastTime = record.time;
    switch (record.kind) {
      case "call":
        return this.#addCall(record);
      case "use":
        return this.#addUse(record);
      case "refused":
        this.#refusals.add(record);
        return this.#addToTimeline(record.time, { refused: record.times });
      case "lost":
        this.#lostRecords += record.records;
        return;
      case "opened":
      case "staged":
      case "upkeep":
      case "closed":
    }
  }

  result(): Omit<LogSummary, "verification"> {
    const tools = Array.from(this.#tools, ([tool, sums]) => sums.result(tool)).toSorted((a, b) => b.calls - a.calls);
    const unfitUses = this.#unfitUses.slice(-auditLimits.unfitUsesMax);
    return {
      firstTime: this.#firstTime,
      lastTime: this.#lastTime,
      calls: this.#calls,
      failed: this.#failed,
      users: this.#users.size,
      tools,
      toolsNotShown: this.#toolsNotShown.size,
      denials: this.#denials,
      failedUses: this.#failedUses,
      unfitUses,
      unfitUsesNotShown: this.#denials + this.#failedUses - unfitUses.length,
      ...this.#refusals.result(),
      timeline: this.#timeline.result(),
      lostRecords: this.#lostRecords,
    };
  }

  #addCall({ time, userId, tool, code, durationMs }: Extract<AuditRecord, { kind: "call" }>): void {
    const failed = code === null ? 0 : 1;
    this.#calls++;
    this.#failed += failed;
    if (userId !== null && this.#users.size < auditLimits.usersCountedMax) this.#users.add(userId);
    this.#toolSums(tool)?.add(failed, durationMs);
    this.#addToTimeline(time, { calls: 1, failed });
  }

  #toolSums(tool: string | null): ToolSums | null {
    const known = this.#tools.get(tool);
    if (known) return known;
    if (this.#tools.size === auditLimits.toolsShownMax) {
      if (this.#toolsNotShown.size < auditLimits.usersCountedMax) this.#toolsNotShown.add(tool);
      return null;
    }
    const sums = new ToolSums();
    this.#tools.set(tool, sums);
    return sums;
  }

  #addUse({ seq, time, callId, userId, tool, ...use }: Extract<AuditRecord, { kind: "use" }>): void {
    const { capability, scope, path, code } = use;
    const denials = code === "CAPABILITY_DENIED" ? 1 : 0;
    this.#denials += denials;
    this.#failedUses += 1 - denials;
    this.#unfitUses.push({ seq, time, callId, userId, tool, capability, scope, path, code });
    if (this.#unfitUses.length === 2 * auditLimits.unfitUsesMax) {
      this.#unfitUses = this.#unfitUses.slice(-auditLimits.unfitUsesMax);
    }
    this.#addToTimeline(time, { denials });
  }

  /** The form of a time still allows a day that no month has. */
  #addToTimeline(time: string, counts: Parameters<Timeline["add"]>[1]): void {
    const epochMs = Date.parse(time);
    if (!Number.isNaN(epochMs)) this.#timeline.add(epochMs, counts);
  }
}

class ToolSums {
  #calls = 0;
  #failed = 0;
  readonly #durations = new DurationHistogram();

  add(failed: number, durationMs: number): void {
    this.#calls++;
    this.#failed += failed;
    this.#durations.add(durationMs);
  }

  result(tool: string | null): ToolUse {
    const { maxMs } = this.#durations;
    return { tool, calls: this.#calls, failed: this.#failed, medianMs: this.#durations.medianMs(), maxMs };
  }
}
