import { auditLimits } from "../../../shared/limits.ts";
import type { AuditRecord } from "../audit-record.ts";
import { changesOf } from "./changes-of.ts";
import type { ListedCall, LogSummary } from "./log-summary.ts";

/** Keeps the latest calls, and for longer those that failed or were denied a capability. */
export class LatestCalls {
  #count = 0;
  readonly #latest: ListedCall[] = [];
  /** Earlier than all of the latest. */
  readonly #faulty: ListedCall[] = [];

  add(call: Extract<AuditRecord, { kind: "call" }>): void {
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

function listed(call: Extract<AuditRecord, { kind: "call" }>): ListedCall {
  const { seq, time, callId, userId, tool, origin, code, durationMs, usesDenied } = call;
  return { seq, time, callId, userId, tool, origin, code, denials: usesDenied, ...changesOf(call), durationMs };
}

const isFaulty = ({ code, denials }: ListedCall): boolean => code !== null || denials > 0;
