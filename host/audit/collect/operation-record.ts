/** The common part of the records of calls and upkeep operations. */
import { randomUUID } from "node:crypto";

import type { FailureName } from "../../../shared/errors.ts";
import { causeLines } from "../../log/failure-line.ts";
import type { LogEntry, LogLine, LogSource } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { namesIn } from "../../values/call-context.ts";
import type { AskedContext, Labels } from "../../values/call-context.ts";
import type { SizedChange } from "../../values/change-set.ts";
import type { Cause } from "../../values/memory-change.ts";
import { asTold } from "../../values/origin.ts";
import type { ToldOrigin } from "../../values/origin.ts";
import type { GrantChange } from "../../values/store-grant.ts";
import { asToolError, ToolError } from "../../values/tool-error.ts";
import type { AuditLog, ChainHead } from "../audit-log.ts";
import type { AuditEntry, CallEntry, StagedEntry, HistoryEnd } from "../audit-record.ts";
import type { Measures } from "./measures.ts";

export interface RecordParts {
  readonly log: AuditLog | null;
  readonly onLog: (entry: LogEntry) => void;
  readonly measures: Measures;
}

/** How the operator's log and error messages name the operation. */
export interface RecordLabel {
  /** The named tool; `null` when the name is invalid, and for upkeep. */
  readonly tool: string | null;
  /** The tool's name in the operator's log. */
  readonly shownTool: string;
  /** What the program's listeners are told: the tool, or the name of the owner's operation. */
  readonly told: string;
  readonly action: string;
}

/** Records one operation. The code that does the work reports each step to it, in order. */
export abstract class OperationRecord {
  /** The caller's if it is valid, otherwise a new UUID. */
  readonly callId: string;
  /** `null` when the caller gave no valid one. */
  readonly userId: string | null;
  readonly labels: Labels | null;
  /** What the caller has said about the origin of the call, also for calls that an operation makes. */
  readonly origin: ToldOrigin;
  protected readonly parts: RecordParts;
  readonly #label: RecordLabel;
  readonly #beganMs = performance.now();
  #isCommitted = false;
  /** When the present commit began. */
  #commitBeganMs: number | null = null;
  /** The files of the last staged change set. */
  protected stagedFiles: ChangedFiles | null = null;
  /** What the last staged change set grants, and what all that are committed do. */
  #stagedGrants: readonly GrantChange[] = [];
  readonly #granted: GrantChange[] = [];
  /** By store. */
  readonly #history = new Map<string | null, HistoryEnd>();

  /** Records the valid parts of the caller's context, even when other parts are invalid. */
  constructor(parts: RecordParts, asked: AskedContext, label: RecordLabel) {
    const { callId, userId, labels, origin } = namesIn(asked);
    this.parts = parts;
    this.callId = callId ?? randomUUID();
    this.userId = userId;
    this.labels = labels;
    this.origin = origin === null ? {} : asTold(origin);
    this.#label = label;
  }

  /** Whether any of its changes were committed. */
  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** The operation's names for the operator's log and for change listeners. */
  get source(): LogSource {
    return { tool: this.#label.shownTool, userId: this.userId ?? "", callId: this.callId };
  }

  /** What the program's listeners are told of it. */
  get cause(): Cause {
    const run = this.origin.origin?.run ?? null;
    return { userId: this.userId ?? "", tool: this.#label.told, callId: this.callId, run };
  }

  /** Records the changes that are about to be committed. If it throws, they must not be committed. */
  staged(changes: readonly SizedChange[], granted: readonly GrantChange[] = []): void {
    this.stagedFiles = changedBy(changes);
    this.#stagedGrants = granted;
    const facts = { ...this.stagedFacts, ...grantedIn(granted) };
    this.append({ kind: "staged", ...this.named, ...this.callerFacts, ...facts, ...this.stagedFiles });
    this.#commitBeganMs = performance.now();
  }

  /** Where histories end after the changes that were committed last. */
  versioned(ends: readonly HistoryEnd[]): void {
    for (const end of ends) this.#history.set(end.store, end);
  }

  /** The changes that were staged last are durable, or a part of them is. */
  committed(part?: CommittedPart): void {
    this.#isCommitted = true;
    this.#granted.push(...(part?.granted ?? this.#stagedGrants));
    if (this.#commitBeganMs !== null) this.parts.measures.committed(performance.now() - this.#commitBeganMs);
    this.#commitBeganMs = null;
  }

  /** Writes a line to the operator's log. */
  tell(line: LogLine): void {
    writeLog(this.parts.onLog, { ...line, ...this.source });
  }

  /** Further fields of the `staged` entries. */
  protected get stagedFacts(): Partial<StagedEntry> {
    return {};
  }

  /** Whose access the committed changes change; the staged ones, if none are committed. */
  protected get grantedFacts(): Pick<StagedEntry, "granted"> {
    return grantedIn(this.#isCommitted ? this.#granted : this.#stagedGrants);
  }

  protected get historyFacts(): Pick<CallEntry, "history"> {
    return this.#history.size === 0 ? {} : { history: [...this.#history.values()] };
  }

  protected get named(): Pick<CallEntry, "callId" | "userId" | "tool"> {
    return { callId: this.callId, userId: this.userId, tool: this.#label.tool };
  }

  /** The caller's own facts. */
  protected get callerFacts(): Pick<CallEntry, "labels" | "origin"> {
    const { origin, exposedTo = [] } = this.origin;
    const exposed = exposedTo.length > 0 && { exposedTo: [...exposedTo] };
    return {
      ...(this.labels !== null && { labels: this.labels }),
      ...(origin !== undefined && { origin: { ...origin, ...exposed } }),
    };
  }

  protected get elapsedMs(): number {
    return performance.now() - this.#beganMs;
  }

  /** How it ended, and after how many milliseconds, rounded to microseconds. */
  protected outcome(failure: FailureName | null): Pick<CallEntry, "code" | "of" | "durationMs"> {
    const durationMs = Math.round(this.elapsedMs * 1000) / 1000;
    return { code: failure?.code ?? null, ...(failure?.of && { of: failure.of }), durationMs };
  }

  /** Throws `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED`, with the original error as its cause. */
  protected append(entry: AuditEntry): ChainHead | null {
    try {
      return this.parts.log?.append(entry) ?? null;
    } catch (cause) {
      const { tableCode: code } = asToolError(cause, "write the audit log");
      const told = code === "STORAGE_FULL" || code === "STORAGE_BUSY" ? code : "STORAGE_FAILED";
      throw new ToolError(told, `Cannot ${this.#label.action}: the audit log cannot be written`, { cause });
    }
  }

  /** Appends the last entry. If that fails, writes the cause to the operator's log and returns the failure. */
  protected appendLast(entry: AuditEntry): { readonly head: ChainHead | null; readonly failure: ToolError | null } {
    try {
      return { head: this.append(entry), failure: null };
    } catch (error) {
      const failure = error as ToolError;
      for (const line of causeLines(failure)) this.tell(line);
      return { head: null, failure };
    }
  }
}

/** What is durable of the changes that were staged last. */
export interface CommittedPart {
  readonly changes: readonly SizedChange[];
  readonly granted: readonly GrantChange[];
}

const grantedIn = (granted: readonly GrantChange[]): Pick<StagedEntry, "granted"> =>
  granted.length === 0 ? {} : { granted: [...granted] };

export type ChangedFiles = Pick<CallEntry, "writes" | "trashed" | "removed">;

/** The files of a change set, without their content. A restored file is written in one place and removed in another. */
export function changedBy(changes: readonly SizedChange[]): ChangedFiles {
  const files: ChangedFiles = { writes: [], trashed: [], removed: [] };
  for (const change of changes) {
    const { scope, path, bytes } = change;
    if (change.kind === "write") files.writes.push({ scope, path, bytes });
    if (change.kind === "restore") files.writes.push({ scope, path: change.restored, bytes });
    if (change.kind === "trash") files.trashed.push({ scope, path, bytes, trashed: change.trashed });
    if (change.kind === "remove" || change.kind === "restore") files.removed.push({ scope, path, bytes });
  }
  return files;
}
