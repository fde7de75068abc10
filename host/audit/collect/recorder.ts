/** Begins the records of a runtime's calls and upkeep operations, and closes the log after the last one. */
import { auditLimits } from "../../../shared/limits.ts";
import { failureLine } from "../../log/failure-line.ts";
import type { LogLine, LogEntry } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import type { AskedContext } from "../../values/call-context.ts";
import type { Refusal } from "../../values/refusal.ts";
import { peerPattern, refusalWordPattern } from "../../values/refusal.ts";
import { isUserId } from "../../values/user-id.ts";
import type { AuditLog } from "../audit-log.ts";
import type { RefusedEntry } from "../audit-record.ts";
import { CallRecord } from "./call-record.ts";
import type { Measures } from "./measures.ts";
import type { RecordParts } from "./operation-record.ts";
import { UpkeepRecord } from "./upkeep-record.ts";

export class Recorder {
  readonly #refusals: RefusalRecorder;
  #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    this.#refusals = new RefusalRecorder({ ...parts, note: (line) => this.#tell(line) });
  }

  beginCall(tool: unknown, action: string, context: AskedContext): CallRecord {
    return new CallRecord(this.#parts, { tool, action, context });
  }

  beginUpkeep(name: string, action: string, context: AskedContext): UpkeepRecord {
    return new UpkeepRecord(this.#parts, { name, action, context });
  }

  /** Records a request that was refused before a tool was called. Never throws. */
  refused(refusal: Refusal): void {
    this.#refusals.add(refusal);
  }

  /** Call this after all operations have ended. Later operations are not recorded: they do nothing. */
  close(): void {
    this.#refusals.close();
    const { log } = this.#parts;
    this.#parts = { ...this.#parts, log: null };
    try {
      log?.close();
    } catch (error) {
      this.#tell(failureLine(error));
    }
  }

  /** Writes a line about the audit log to the operator's log. */
  #tell(line: LogLine): void {
    writeLog(this.#parts.onLog, { ...line, tool: "log", userId: "", callId: "" });
  }
}

interface RefusalRecorderParts {
  readonly log: AuditLog | null;
  /** The operator's log, which gets a line for each refusal. */
  readonly onLog: (entry: LogEntry) => void;
  readonly measures: Measures;
  /** Reports to the operator that the audit log cannot be written. */
  readonly note: (line: LogLine) => void;
}

/** Records requests that were refused before a tool was called, and tells the operator about them. */
class RefusalRecorder {
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

const minuteMs = 60_000;

interface RefusalMinuteParts {
  /** How many are told one by one in a minute. */
  readonly toldMax: number;
  /** Returns whether it was told. Otherwise it is counted, and told when the minute is over. */
  readonly tell: (entry: RefusedEntry) => boolean;
}

/**
 * Tells the first refusals of each minute one by one. Counts the others by surface and reason, and tells the counts
 * when the minute is over: outsiders can cause any number of refusals.
 */
class RefusalMinute {
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
