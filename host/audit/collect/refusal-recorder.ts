/**
 * Records requests that were refused before a tool was called. Outsiders can send any number of them, so only a limited
 * number per minute get a record each. The others are counted by surface and reason, and written when the minute is
 * over.
 */
import { auditLimits } from "../../../shared/limits.ts";
import { causeLines } from "../../log/cause-line.ts";
import type { LogLine } from "../../log/log-entry.ts";
import { peerPattern, refusalWordPattern } from "../../values/refusal.ts";
import type { Refusal } from "../../values/refusal.ts";
import { isUserId } from "../../values/user-id.ts";
import type { AuditLog } from "../audit-log.ts";
import type { RefusedEntry } from "../audit-record.ts";

const minuteMs = 60_000;

export interface RefusalRecorderParts {
  readonly log: AuditLog | null;
  /** Reports to the operator that the log cannot be written. */
  readonly note: (line: LogLine) => void;
}

export class RefusalRecorder {
  readonly #parts: RefusalRecorderParts;
  readonly #counted = new Map<string, RefusedEntry>();
  /** How many were written one by one in this minute. */
  #shown = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed: boolean;

  constructor(parts: RefusalRecorderParts) {
    this.#parts = parts;
    this.#isClosed = parts.log === null;
  }

  /** Never throws, whatever the argument. */
  add(refusal: unknown): void {
    if (this.#isClosed) return;
    // The minute begins with its first refusal. The timer does not keep the process alive.
    this.#timer ??= setTimeout(() => this.#endMinute(), minuteMs).unref();
    const entry = refusedEntry(refusal);
    const isShown = this.#shown++ < auditLimits.refusalsShownPerMinute;
    if (!isShown || !this.#write(entry)) this.#count(entry);
  }

  /** Writes the counted refusals. Ignores later ones. */
  close(): void {
    this.#endMinute();
    this.#isClosed = true;
  }

  /** Refusals that cannot be written stay counted; the end of the next minute tries again. */
  #endMinute(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#shown = 0;
    for (const [kind, entry] of this.#counted) {
      if (!this.#write(entry)) return;
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

  #write(entry: RefusedEntry): boolean {
    try {
      this.#parts.log?.append(entry);
      return true;
    } catch (error) {
      for (const line of causeLines([error])) this.#parts.note(line);
      return false;
    }
  }
}

/** Surface and reason of refusals whose kind has no room. */
const others = "others";

/** Replaces an invalid surface or reason. */
const unknownWord = "unknown";

/** A refusal as a record. Callers without types can pass anything: invalid parts are left out. */
function refusedEntry(refusal: unknown): RefusedEntry {
  const { surface, reason, userId, peer } = readOnce(refusal);
  return {
    kind: "refused",
    surface: matching(refusalWordPattern, surface) ?? unknownWord,
    reason: matching(refusalWordPattern, reason) ?? unknownWord,
    userId: typeof userId === "string" && isUserId(userId) ? userId : null,
    peer: matching(peerPattern, peer),
    times: 1,
  };
}

type AskedRefusal = { readonly [Key in keyof Refusal]?: unknown };

/** Reads each property once. Returns none if reading one throws. */
function readOnce(refusal: unknown): AskedRefusal {
  try {
    if (typeof refusal !== "object" || refusal === null) return {};
    const { surface, reason, userId, peer }: AskedRefusal = refusal;
    return { surface, reason, userId, peer };
  } catch {
    return {};
  }
}

function matching(pattern: RegExp, value: unknown): string | null {
  return typeof value === "string" && pattern.test(value) ? value : null;
}
