/** Requests that were refused before a tool was called: outsiders can cause any number of them. */
import { auditLimits } from "../../../shared/limits.ts";
import type { LogEntry } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { isUserId } from "../../values/ids.ts";
import type { Refusal } from "../../values/refusal.ts";
import { peerPattern, refusalWordPattern } from "../../values/refusal.ts";
import type { RefusedEntry } from "../audit-record.ts";

/** The line has nothing that a client chose: only its address, and words that were checked. */
export function tellOperator(onLog: (entry: LogEntry) => void, entry: RefusedEntry): true {
  const { surface, reason, userId, peer, times } = entry;
  const what = times === 1 ? "a request" : `${times} more requests in a minute`;
  const text = `refused ${what}${peer === null ? "" : ` from ${peer}`}: ${reason}`;
  writeLog(onLog, { level: "warn", tool: surface, userId: userId ?? "", callId: "", text });
  return true;
}

/** A refusal as a record. Callers without types can pass anything: invalid parts are left out. Reads each part once. */
export function refusedEntry(refusal: unknown): RefusedEntry {
  const entry: RefusedEntry = {
    kind: "refused",
    surface: "unknown",
    reason: "unknown",
    userId: null,
    peer: null,
    times: 1,
  };
  try {
    const { surface, reason, userId, peer } = (refusal ?? {}) as Partial<Record<keyof Refusal, unknown>>;
    return {
      ...entry,
      surface: matching(refusalWordPattern, surface) ?? entry.surface,
      reason: matching(refusalWordPattern, reason) ?? entry.reason,
      userId: typeof userId === "string" && isUserId(userId) ? userId.normalize("NFC") : null,
      peer: matching(peerPattern, peer),
    };
  } catch {
    return entry;
  }
}

const matching = (pattern: RegExp, value: unknown): string | null =>
  typeof value === "string" && pattern.test(value) ? value : null;

const minuteMs = 60_000;

/** Tells the first ones of each minute one by one. Counts the others by kind, and tells the counts when it is over. */
export class RefusalMinute {
  readonly #toldMax: number;
  readonly #tell: (entry: RefusedEntry) => boolean;
  readonly #counted = new Map<string, RefusedEntry>();
  #told = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `tell` returns whether it was told. Otherwise it is counted, and told when the minute is over. */
  constructor(toldMax: number, tell: (entry: RefusedEntry) => boolean) {
    this.#toldMax = toldMax;
    this.#tell = tell;
  }

  add(entry: RefusedEntry): void {
    // The minute begins with its first refusal. The timer does not keep the process alive.
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    const isTold = this.#told++ < this.#toldMax;
    if (!isTold || !this.#tell(entry)) this.#count(entry);
  }

  /** Ends the minute. What cannot be told stays counted; the end of the next minute tries again. */
  end(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#told = 0;
    for (const [kind, entry] of this.#counted) {
      if (!this.#tell(entry)) return;
      this.#counted.delete(kind);
    }
  }

  #count({ surface, reason }: RefusedEntry): void {
    const hasRoom = this.#counted.has(`${surface} ${reason}`) || this.#counted.size < auditLimits.refusalKindsMax;
    const kind = hasRoom ? { surface, reason } : { surface: "others", reason: "others" };
    const name = `${kind.surface} ${kind.reason}`;
    const times = (this.#counted.get(name)?.times ?? 0) + 1;
    // The count covers different users and addresses.
    this.#counted.set(name, { kind: "refused", ...kind, userId: null, peer: null, times });
  }
}
