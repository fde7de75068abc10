/** Records requests that were refused before a tool was called, and tells the operator about them. */
import { auditLimits } from "../../../shared/limits.ts";
import { failureLine } from "../../log/failure-line.ts";
import type { LogEntry, LogLine } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { peerPattern, refusalWordPattern } from "../../values/refusal.ts";
import type { Refusal } from "../../values/refusal.ts";
import { isUserId } from "../../values/user-id.ts";
import type { AuditLog } from "../audit-log.ts";
import type { RefusedEntry } from "../audit-record.ts";
import type { Measures } from "./measures.ts";
import { RefusalMinute } from "./refusal-minute.ts";

export interface RefusalRecorderParts {
  readonly log: AuditLog | null;
  /** The operator's log, which gets a line for each refusal. */
  readonly onLog: (entry: LogEntry) => void;
  readonly measures: Measures;
  /** Reports to the operator that the audit log cannot be written. */
  readonly note: (line: LogLine) => void;
}

export class RefusalRecorder {
  readonly #minutes: readonly RefusalMinute[];
  readonly #measures: Measures;
  #isClosed = false;

  constructor({ log, onLog, measures, note }: RefusalRecorderParts) {
    this.#measures = measures;
    const { refusalsShownPerMinute: shownMax, refusalsLoggedPerMinute: loggedMax } = auditLimits;
    const shown = log && { toldMax: shownMax, tell: (entry: RefusedEntry) => append(log, entry, note) };
    const logged = { toldMax: loggedMax, tell: (entry: RefusedEntry) => tellOperator(onLog, entry) };
    this.#minutes = [shown, logged].flatMap((parts) => (parts ? [new RefusalMinute(parts)] : []));
  }

  /** Never throws, whatever the argument. */
  add(refusal: unknown): void {
    if (this.#isClosed) return;
    const entry = refusedEntry(refusal);
    this.#measures.refused(entry);
    for (const minute of this.#minutes) minute.add(entry);
  }

  /** Writes the counted refusals. Ignores later ones. */
  close(): void {
    for (const minute of this.#minutes) minute.end();
    this.#isClosed = true;
  }
}

function append(log: AuditLog, entry: RefusedEntry, note: (line: LogLine) => void): boolean {
  try {
    log.append(entry);
    return true;
  } catch (error) {
    note(failureLine(error));
    return false;
  }
}

/** The line has nothing that a client chose: only its address, and words that were checked. */
function tellOperator(onLog: (entry: LogEntry) => void, entry: RefusedEntry): true {
  const { surface, reason, userId, peer, times } = entry;
  const what = times === 1 ? "a request" : `${times} more requests in a minute`;
  const text = `refused ${what}${peer === null ? "" : ` from ${peer}`}: ${reason}`;
  writeLog(onLog, { level: "warn", tool: surface, userId: userId ?? "", callId: "", text });
  return true;
}

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
