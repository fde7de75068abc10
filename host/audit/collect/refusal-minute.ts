import { auditLimits } from "../../../shared/limits.ts";
import type { RefusedEntry } from "../audit-record.ts";

const minuteMs = 60_000;

export interface RefusalMinuteParts {
  /** How many are told one by one in a minute. */
  readonly toldMax: number;
  /** Returns whether it was told. Otherwise it is counted, and told when the minute is over. */
  readonly tell: (entry: RefusedEntry) => boolean;
}

/**
 * Tells the first refusals of each minute one by one. Counts the others by surface and reason, and tells the counts
 * when the minute is over: outsiders can cause any number of refusals.
 */
export class RefusalMinute {
  readonly #parts: RefusalMinuteParts;
  readonly #counted = new Map<string, RefusedEntry>();
  #told = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: RefusalMinuteParts) {
    this.#parts = parts;
  }

  add(entry: RefusedEntry): void {
    // The minute begins with its first refusal. The timer does not keep the process alive.
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    const isTold = this.#told++ < this.#parts.toldMax;
    if (!isTold || !this.#parts.tell(entry)) this.#count(entry);
  }

  /** Ends the minute. What cannot be told stays counted; the end of the next minute tries again. */
  end(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#told = 0;
    for (const [kind, entry] of this.#counted) {
      if (!this.#parts.tell(entry)) return;
      this.#counted.delete(kind);
    }
  }

  #count({ surface, reason }: RefusedEntry): void {
    const hasRoom = this.#counted.has(`${surface} ${reason}`) || this.#counted.size < auditLimits.refusalKindsMax;
    const kind = hasRoom ? { surface, reason } : { surface: others, reason: others };
    const name = `${kind.surface} ${kind.reason}`;
    const times = (this.#counted.get(name)?.times ?? 0) + 1;
    // The count covers different users and addresses.
    this.#counted.set(name, { kind: "refused", ...kind, userId: null, peer: null, times });
  }
}

/** Surface and reason of refusals whose kind has no room. */
const others = "others";
