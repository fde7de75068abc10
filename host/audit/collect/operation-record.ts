/** What the records of a call and of an upkeep operation have in common: who asked, and how the log takes it. */
import { randomUUID } from "node:crypto";

import type { FailureName } from "../../../shared/errors.ts";
import { causeLines } from "../../log/cause-line.ts";
import type { LogEntry, LogSource } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { namesIn } from "../../values/call-context.ts";
import type { AskedContext, Labels } from "../../values/call-context.ts";
import type { SizedChange } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { AuditLog, ChainHead } from "../audit-log.ts";
import type { AuditEntry, CallEntry, StagedEntry } from "../audit-record.ts";

export interface RecordParts {
  readonly log: AuditLog | null;
  readonly onLog: (entry: LogEntry) => void;
}

/** How the operator's log names what is recorded, and what a caller is told that it was. */
export interface RecordLabel {
  /** The tool that was named; `null` for none that has a name, and for upkeep. */
  readonly tool: string | null;
  /** What the operator's log shows as the tool. */
  readonly shownTool: string;
  readonly action: string;
}

/** Only records. Whoever does the work tells it each step, in the order in which the steps are taken. */
export abstract class OperationRecord {
  /** The caller's, if it is valid. */
  readonly callId: string;
  /** `null` when none was named that is valid. */
  readonly userId: string | null;
  readonly labels: Labels | null;
  protected readonly parts: RecordParts;
  readonly #label: RecordLabel;
  readonly #beganMs = performance.now();
  #isCommitted = false;
  /** Of what was last about to be committed. */
  protected stagedFiles: ChangedFiles | null = null;

  /** What of the caller's context is valid is recorded, also when the rest is not. */
  constructor(parts: RecordParts, asked: AskedContext, label: RecordLabel) {
    const { callId, userId, labels } = namesIn(asked);
    this.parts = parts;
    this.callId = callId ?? randomUUID();
    this.userId = userId;
    this.labels = labels;
    this.#label = label;
  }

  /** Whether something of it has become durable. */
  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** As the operator's log and those who listen for changes name it. */
  get source(): LogSource {
    return { tool: this.#label.shownTool, userId: this.userId ?? "", callId: this.callId };
  }

  /** What is about to be committed. Throws when it cannot be recorded: then it must not be committed. */
  staged(changes: readonly SizedChange[]): void {
    this.stagedFiles = changedBy(changes);
    this.append({ kind: "staged", ...this.named, ...this.labelled, ...this.stagedFacts, ...this.stagedFiles });
  }

  /** What was staged last is durable. */
  committed(): void {
    this.#isCommitted = true;
  }

  /** A line for the operator. */
  tell(line: Pick<LogEntry, "level" | "text">): void {
    writeLog(this.parts.onLog, { ...line, ...this.source });
  }

  /** Of a kind of record: what its `staged` entries tell besides. */
  protected get stagedFacts(): Partial<StagedEntry> {
    return {};
  }

  protected get named(): Pick<CallEntry, "callId" | "userId" | "tool"> {
    return { callId: this.callId, userId: this.userId, tool: this.#label.tool };
  }

  protected get labelled(): Pick<CallEntry, "labels"> {
    return this.labels === null ? {} : { labels: this.labels };
  }

  /** How it has ended, and in how many milliseconds, to the microsecond. */
  protected outcome(failure: FailureName | null): Pick<CallEntry, "code" | "of" | "durationMs"> {
    const durationMs = Math.round((performance.now() - this.#beganMs) * 1000) / 1000;
    return { code: failure?.code ?? null, ...(failure?.of && { of: failure.of }), durationMs };
  }

  /** Throws `STORAGE_FULL` or `STORAGE_FAILED`, with what lies behind as its cause. */
  protected append(entry: AuditEntry): ChainHead | null {
    try {
      return this.parts.log?.append(entry) ?? null;
    } catch (cause) {
      const code = cause instanceof ToolError && cause.code === "STORAGE_FULL" ? "STORAGE_FULL" : "STORAGE_FAILED";
      throw new ToolError(code, `Cannot ${this.#label.action}: the audit log cannot be written`, { cause });
    }
  }

  /** The last entry. What keeps it from the log is told to the operator, and returned. */
  protected appendLast(entry: AuditEntry): { readonly head: ChainHead | null; readonly failure: ToolError | null } {
    try {
      return { head: this.append(entry), failure: null };
    } catch (error) {
      const failure = error as ToolError;
      for (const line of causeLines([failure.cause])) this.tell(line);
      return { head: null, failure };
    }
  }
}

export type ChangedFiles = Pick<CallEntry, "writes" | "trashed" | "removed">;

/** The files of a change set, without what is written into them. */
export function changedBy(changes: readonly SizedChange[]): ChangedFiles {
  const files: ChangedFiles = { writes: [], trashed: [], removed: [] };
  for (const change of changes) {
    const { scope, path, bytes } = change;
    if (change.kind === "write") files.writes.push({ scope, path, bytes });
    else if (change.kind === "trash") files.trashed.push({ scope, path, bytes, trashed: change.trashed });
    else files.removed.push({ scope, path, bytes });
  }
  return files;
}
