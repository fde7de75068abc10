import { auditLimits } from "../../../shared/limits.ts";
import type { AuditRecord } from "../audit-record.ts";
import { changesOf } from "./changes-of.ts";
import type { LogSummary, UserCalls } from "./log-summary.ts";

type RecordOf<Kind> = Extract<AuditRecord, { kind: Kind }>;
type Sums = { -readonly [Key in keyof Omit<UserCalls, "userId">]: UserCalls[Key] };

/** Sums for each user of a log, up to a maximum of users. */
export class CallsByUser {
  readonly #sums = new Map<string | null, Sums>();

  addCall(call: RecordOf<"call">): void {
    const sums = this.#sumsOf(call);
    if (!sums) return;
    sums.calls++;
    if (call.code !== null) sums.failed++;
    const { written, trashed, removed, granted } = changesOf(call);
    sums.written += written;
    sums.trashed += trashed;
    sums.removed += removed;
    sums.granted += granted;
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
  #sumsOf({ userId, time }: Pick<RecordOf<"call">, "userId" | "time">): Sums | undefined {
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

const nothing = { calls: 0, failed: 0, denials: 0, refused: 0, written: 0, trashed: 0, removed: 0, granted: 0 };

/** Users whom a reviewer should see come first, so that they are not left out. */
function byNotice(a: UserCalls, b: UserCalls): number {
  return b.denials + b.refused - (a.denials + a.refused) || b.failed - a.failed || b.calls - a.calls;
}
