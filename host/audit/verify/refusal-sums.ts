import { auditLimits } from "../../../shared/limits.ts";
import type { AuditRecord } from "../audit-record.ts";
import type { RefusalCount } from "./log-summary.ts";

type RefusedRecord = Extract<AuditRecord, { kind: "refused" }>;

/** Refused requests of a log by surface and reason: a bounded number of them, and the rest in one sum. */
export class RefusalSums {
  #times = 0;
  readonly #counts = new Map<string, RefusalCount>();

  add({ surface, reason, times, time }: RefusedRecord): void {
    this.#times += times;
    const kind = `${surface} ${reason}`;
    const known = this.#counts.get(kind);
    if (!known && this.#counts.size === auditLimits.refusalsToldMax) return;
    const sum = (known?.times ?? 0) + times;
    const lastTime = known && known.lastTime > time ? known.lastTime : time;
    this.#counts.set(kind, { surface, reason, times: sum, lastTime });
  }

  result(): { refused: number; refusals: RefusalCount[]; refusedNotShown: number } {
    const refusals = [...this.#counts.values()].toSorted((a, b) => b.times - a.times);
    const shown = refusals.reduce((sum, { times }) => sum + times, 0);
    return { refused: this.#times, refusals, refusedNotShown: this.#times - shown };
  }
}
