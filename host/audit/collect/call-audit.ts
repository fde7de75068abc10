/**
 * What is recorded of one call, from its beginning to its result: each denied or failed use when the guest has ended,
 * what is to be changed before it is committed, and the call itself at last. Whoever runs the call tells it what happens.
 */
import { randomUUID } from "node:crypto";

import type { FailureName } from "../../../shared/errors.ts";
import { toolName } from "../../../shared/manifest.ts";
import { causeLines } from "../../log/cause-line.ts";
import type { LogEntry } from "../../log/log-entry.ts";
import type { Committer } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { namesIn, readContext } from "../../values/call-context.ts";
import type { AskedContext, CallContext } from "../../values/call-context.ts";
import type { Labels } from "../../values/call-labels.ts";
import type { SizedChange } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { AuditLog, ChainHead } from "../audit-log.ts";
import type { AuditEntry, CallEntry } from "../audit-record.ts";
import { changedBy } from "./changed-files.ts";
import type { ChangedFiles } from "./changed-files.ts";
import { readTrail } from "./read-trail.ts";
import { spanAttributes } from "./span-attributes.ts";
import { startCallSpan } from "./telemetry.ts";
import type { CallSpan } from "./telemetry.ts";
import { TotalUses } from "./total-uses.ts";

export interface AuditParts {
  readonly log: AuditLog | null;
  readonly onLog: (entry: LogEntry) => void;
  /** Told of each change set when it is durable. Does not throw. */
  readonly onCommitted: (changes: readonly SizedChange[], of: Committer) => void;
}

/** The tool that was found, and what it is granted. */
export type FoundTool = Pick<CallEntry, "plugin" | "scopes" | "rights">;

const nothingFound: FoundTool = { plugin: null, scopes: [], rights: [] };

export class CallAudit {
  readonly #parts: AuditParts;
  readonly #action: string;
  readonly #tool: string | null;
  readonly #span: CallSpan;
  readonly #beganMs = performance.now();
  readonly #uses = new TotalUses();
  #callId: string | null = null;
  #userId: string | null = null;
  #labels: Labels | null = null;
  #found = nothingFound;
  #isMounted = false;
  #fuelPolls: number | null = null;
  /** What was about to be committed. */
  #staged: ChangedFiles | null = null;
  #isCommitted = false;

  /** `tool` is whatever the caller has named. */
  constructor(parts: AuditParts, tool: unknown, action: string) {
    this.#parts = parts;
    this.#action = action;
    this.#tool = typeof tool === "string" && toolName.test(tool) ? tool : null;
    this.#span = startCallSpan(this.#tool);
  }

  /** The caller's, if it is valid. */
  get callId(): string {
    this.#callId ??= randomUUID();
    return this.#callId;
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** Reads a caller's context: what of it is valid is recorded, also when the rest is not. */
  nameFrom(ctx: CallContext | null | undefined): AskedContext {
    const asked = readContext(ctx);
    ({ callId: this.#callId, userId: this.#userId, labels: this.#labels } = namesIn(asked));
    return asked;
  }

  found(tool: FoundTool): void {
    this.#found = tool;
  }

  /** The call goes to a mounted folder. */
  goesToMount(): void {
    this.#isMounted = true;
  }

  /** A guest has ended, or was ended. Throws when what it was denied cannot be recorded. */
  guestEnded(trail: SharedArrayBuffer): void {
    this.#staged = null;
    if (!this.#isWanted) return;
    const uses = readTrail(trail);
    this.#uses.add(uses);
    for (const refusal of uses.refusals) this.#append({ kind: "use", ...this.#named, ...refusal });
  }

  /** Polls of the guest that has just ended. */
  used(fuelPolls: number | null): void {
    if (fuelPolls !== null) this.#fuelPolls = (this.#fuelPolls ?? 0) + fuelPolls;
  }

  /** Has changes committed. They are recorded first, and when they cannot be, nothing is committed. */
  async commit(changes: readonly SizedChange[], commit: () => Promise<void>): Promise<void> {
    if (changes.length === 0) return;
    this.#staged = changedBy(changes);
    this.#append({ kind: "staged", ...this.#named, ...this.#labelled, ...this.#placed, ...this.#staged });
    await commit();
    this.#isCommitted = true;
    this.#parts.onCommitted(changes, this.#teller);
  }

  /**
   * The call has ended in a failure, or well. Throws when it cannot be recorded: nobody is to get a result that is not in
   * the log. A call that has committed is in the log already, with all that it changed.
   */
  end(failure: FailureName | null): void {
    const entry = this.#isWanted ? this.#entry(failure) : null;
    let head: ChainHead | null = null;
    let unrecorded: ToolError | null = null;
    try {
      head = entry && this.#append(entry);
    } catch (error) {
      unrecorded = error as ToolError;
      for (const line of causeLines([unrecorded.cause])) this.tell(line);
    }
    const withheld = this.#isCommitted ? null : unrecorded;
    this.#span.end(withheld ?? failure, () => (entry ? spanAttributes(entry, head) : {}));
    if (withheld) throw withheld;
  }

  /** A line for the operator. */
  tell(line: Pick<LogEntry, "level" | "text">): void {
    writeLog(this.#parts.onLog, { ...line, ...this.#teller });
  }

  get #teller(): Committer {
    return { tool: this.#tool ?? "", userId: this.#userId ?? "", callId: this.callId };
  }

  get #isWanted(): boolean {
    return this.#parts.log !== null || this.#span.isRecording;
  }

  get #named(): Pick<CallEntry, "callId" | "userId" | "tool"> {
    return { callId: this.callId, userId: this.#userId, tool: this.#tool };
  }

  get #labelled(): Pick<CallEntry, "labels"> {
    return this.#labels === null ? {} : { labels: this.#labels };
  }

  get #placed(): Pick<CallEntry, "mounted"> {
    return this.#isMounted ? { mounted: true } : {};
  }

  #entry(failure: FailureName | null): CallEntry {
    const uses = this.#uses;
    const files = this.#staged ?? { writes: uses.writes, trashed: uses.trashed, removed: [] };
    const isChanged = files.writes.length + files.trashed.length + files.removed.length > 0;
    return {
      kind: "call",
      ...this.#named,
      ...this.#labelled,
      ...this.#placed,
      ...this.#found,
      reads: uses.reads,
      lists: uses.lists,
      ...files,
      usesNotShown: uses.notShown + (this.#staged ? 0 : uses.changesNotShown),
      usesDenied: uses.denied,
      usesFailed: uses.failed,
      changes: this.#isCommitted ? "committed" : isChanged ? "dropped" : "none",
      ...outcomeOf(failure),
      fuelPolls: this.#fuelPolls,
      durationMs: durationSince(this.#beganMs),
    };
  }

  #append(entry: AuditEntry): ChainHead | null {
    return appendTo(this.#parts.log, entry, this.#action);
  }
}

/** As records tell how something has ended. */
export function outcomeOf(failure: FailureName | null): Pick<CallEntry, "code" | "of"> {
  return { code: failure?.code ?? null, ...(failure?.of && { of: failure.of }) };
}

/** Milliseconds, to the microsecond. */
export function durationSince(beganMs: number): number {
  return Math.round((performance.now() - beganMs) * 1000) / 1000;
}

/** Throws `STORAGE_FULL` or `STORAGE_FAILED`, with what lies behind as its cause. */
export function appendTo(log: AuditLog | null, entry: AuditEntry, action: string): ChainHead | null {
  try {
    return log?.append(entry) ?? null;
  } catch (cause) {
    const code = cause instanceof ToolError && cause.code === "STORAGE_FULL" ? "STORAGE_FULL" : "STORAGE_FAILED";
    throw new ToolError(code, `Cannot ${action}: the audit log cannot be written`, { cause });
  }
}
