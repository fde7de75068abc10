import { originClasses } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { CallEntry } from "../audit-record.ts";
import { changesOf } from "./changes-of.ts";
import type { LogSummary, OriginCalls } from "./log-summary.ts";

/** Sums up calls by the class of their origin. */
export class CallsByOrigin {
  readonly #sums = new Map<OriginClass, OriginCalls>();
  #isAnyTold = false;

  add(call: Omit<CallEntry, "kind">): void {
    const { class: of } = call.origin ?? { class: "unstated" };
    this.#isAnyTold ||= call.origin !== undefined;
    const before = this.#sums.get(of) ?? { class: of, calls: 0, written: 0, trashed: 0, removed: 0, granted: 0 };
    const { written, trashed, removed, granted } = changesOf(call);
    this.#sums.set(of, {
      class: of,
      calls: before.calls + 1,
      written: before.written + written,
      trashed: before.trashed + trashed,
      removed: before.removed + removed,
      granted: before.granted + granted,
    });
  }

  result(): Pick<LogSummary, "callsByOrigin"> {
    // Most programs say nothing, and a table with one row of all calls would tell nothing.
    if (!this.#isAnyTold) return { callsByOrigin: [] };
    return { callsByOrigin: originClasses.flatMap((each) => this.#sums.get(each) ?? []) };
  }
}
