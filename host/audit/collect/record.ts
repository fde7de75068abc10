/**
 * The records of one call, or of one operation of the data's owner. `staged` writes down what is about to be committed, and
 * what it cannot write down is not committed; `committed` adds up what is durable; `end` makes the last record of all that is
 * known by then. Each denied or failed use of a capability is on record as soon as its guest has ended.
 */
import { randomUUID } from "node:crypto";

import type { FailureName } from "../../../shared/errors.ts";
import { auditLimits, sharingLimits } from "../../../shared/limits.ts";
import { toolName } from "../../../shared/manifest.ts";
import type { ChainHead } from "../../log-file/chain.ts";
import { failureLine } from "../../log/failure-line.ts";
import type { LogEntry, LogSource } from "../../log/log-entry.ts";
import { writeCause, writeLog } from "../../log/write-log.ts";
import { namesIn } from "../../values/call-context.ts";
import type { AskedContext, Labels } from "../../values/call-context.ts";
import type { SizedChange } from "../../values/change-set.ts";
import type { Cause } from "../../values/memory-change.ts";
import { asTold } from "../../values/origin.ts";
import type { ToldOrigin } from "../../values/origin.ts";
import type { Refusal } from "../../values/refusal.ts";
import type { DecidedStore, GrantChange } from "../../values/store-grant.ts";
import { asToolError, ToolError } from "../../values/tool-error.ts";
import type { AuditLog } from "../audit-log.ts";
import type { AuditEntry, CallEntry, HistoryEnd, StagedEntry, UpkeepEntry } from "../audit-record.ts";
import { CallSpan } from "./open-telemetry.ts";
import type { Measures } from "./open-telemetry.ts";
import { RefusalMinute, refusedEntry, tellOperator } from "./refusals.ts";
import { TotalUses } from "./trail.ts";
import type { Trail } from "./trail.ts";

export interface RecordParts {
  readonly log: AuditLog | null;
  readonly onLog: (entry: LogEntry) => void;
  readonly measures: Measures;
}

/** How the operator's log (`shown`), the program's listeners (`told`) and messages name an operation. */
type Names = Readonly<Record<"shown" | "told" | "action", string>>;

type Sized = readonly SizedChange[];
type Granted = readonly GrantChange[];

/** Changes of files, without contents, and of grants. */
type Changed = Pick<CallEntry, "writes" | "trashed" | "removed"> & { readonly granted: GrantChange[] };

export abstract class OperationRecord {
  /** The caller's if it is valid, otherwise a new UUID. */
  readonly callId: string;
  /** `null` when the caller gave no valid one. */
  readonly userId: string | null;
  readonly labels: Labels | null;
  /** What the caller has said about the origin of the call, also for calls that an operation makes. */
  readonly origin: ToldOrigin;
  /** For the operator's log. */
  readonly source: LogSource;
  /** For the program's listeners. */
  readonly cause: Cause;
  protected readonly parts: RecordParts;
  readonly #action: string;
  protected readonly named: Pick<CallEntry, "callId" | "userId" | "tool">;
  protected readonly fromCaller: Pick<CallEntry, "labels" | "origin">;
  protected readonly beganMs = performance.now();
  #commitBeganMs: number | null = null;
  /** What was staged last; `null` if nothing was, or a guest has run since. */
  protected lastStaged: Changed | null = null;
  /** `null`: nothing. */
  protected durable: Changed | null = null;
  /** By store. */
  readonly #history = new Map<string | null, HistoryEnd>();

  /** Takes the valid parts of the caller's context, even when others are not. `tool`: `null` without a valid name. */
  constructor(parts: RecordParts, asked: AskedContext, tool: string | null, { shown, told, action }: Names) {
    const { callId, userId, labels, origin } = namesIn(asked);
    this.parts = parts;
    this.callId = callId ?? randomUUID();
    this.userId = userId;
    this.labels = labels;
    this.origin = origin === null ? {} : asTold(origin);
    this.source = { tool: shown, userId: userId ?? "", callId: this.callId };
    this.cause = { userId: userId ?? "", tool: told, callId: this.callId, run: this.origin.origin?.run ?? null };
    this.#action = action;
    this.named = { callId: this.callId, userId, tool };
    const { origin: stated, exposedTo = [] } = this.origin;
    const exposed = exposedTo.length > 0 && { exposedTo: [...exposedTo] };
    this.fromCaller = { ...(labels && { labels }), ...(stated && { origin: { ...stated, ...exposed } }) };
  }

  /** Whether any of its changes were committed. */
  get isCommitted(): boolean {
    return this.durable !== null;
  }

  /** Records changes that are about to be committed. If it throws, they must not be. */
  staged(changes: Sized, granted: Granted = [], facts: Pick<StagedEntry, "mounted" | "erased"> = {}): void {
    this.lastStaged = changedBy(changes, granted);
    this.append({ kind: "staged", ...this.named, ...this.fromCaller, ...facts, ...inRecord(this.lastStaged) });
    this.#commitBeganMs = performance.now();
  }

  /** A part of what was staged last is durable. `end`: where the history of its home ends now. */
  committed(changes: Sized, granted: Granted = [], end: HistoryEnd | null = null): void {
    this.durable = changedBy(changes, granted, this.durable);
    if (end !== null) this.#history.set(end.store, end);
    if (this.#commitBeganMs !== null) this.parts.measures.committed(performance.now() - this.#commitBeganMs);
    this.#commitBeganMs = null;
  }

  /** How it has ended, after how many milliseconds, rounded to microseconds, and where histories end. */
  protected ended(failure: FailureName | null): Pick<CallEntry, "history" | "code" | "of" | "durationMs"> {
    const durationMs = Math.round((performance.now() - this.beganMs) * 1000) / 1000;
    const history = this.#history.size > 0 && { history: [...this.#history.values()] };
    return { ...history, code: failure?.code ?? null, ...(failure?.of && { of: failure.of }), durationMs };
  }

  /** Throws `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED`, with the original error as its cause. */
  protected append(entry: AuditEntry): ChainHead | null {
    try {
      return this.parts.log?.append(entry) ?? null;
    } catch (cause) {
      const { tableCode: code } = asToolError(cause, "write the audit log");
      const told = code === "STORAGE_FULL" || code === "STORAGE_BUSY" ? code : "STORAGE_FAILED";
      throw new ToolError(told, `Cannot ${this.#action}: the audit log cannot be written`, { cause });
    }
  }

  /** Appends the last entry. If that fails, writes the cause to the operator's log and returns the failure. */
  protected appendLast(entry: AuditEntry): { readonly head: ChainHead | null; readonly failure: ToolError | null } {
    try {
      return { head: this.append(entry), failure: null };
    } catch (error) {
      const failure = error as ToolError;
      writeCause(this.parts.onLog, failure, this.source);
      return { head: null, failure };
    }
  }
}

/** A record names grants only if they were changed. */
function inRecord({ granted, ...files }: Changed): Partial<Changed> & Omit<Changed, "granted"> {
  return granted.length > 0 ? { granted, ...files } : files;
}

/** Adds what a change set changes, without contents. A restored file is written in one place and removed in another. */
function changedBy(changes: Sized, granted: Granted, before: Changed | null = null): Changed {
  const files = before ?? { writes: [], trashed: [], removed: [], granted: [] };
  files.granted.push(...granted);
  for (const change of changes) {
    const { scope, path, bytes } = change;
    if (change.kind === "write") files.writes.push({ scope, path, bytes });
    if (change.kind === "restore") files.writes.push({ scope, path: change.restored, bytes });
    if (change.kind === "trash") files.trashed.push({ scope, path, bytes, trashed: change.trashed });
    if (change.kind === "remove" || change.kind === "restore") files.removed.push({ scope, path, bytes });
  }
  return files;
}

export class CallRecord extends OperationRecord {
  /** What the call has found out: its plugin, and what its tool is granted. */
  found: Pick<CallEntry, "plugin" | "scopes" | "rights"> = { plugin: null, scopes: [], rights: [] };
  /** Whether the tool's scopes are in a mounted folder for this user. */
  isMounted = false;
  /** The shared stores about which the host has decided; `null` if the tool reaches none. */
  stores: readonly DecidedStore[] | null = null;
  readonly #span: CallSpan;
  readonly #isWanted: boolean;
  readonly #uses = new TotalUses();
  #fuelPolls: number | null = null;
  #waitMs: number | null = null;
  #guestMs = 0;

  /** `asked.tool` is the caller's unchecked value. */
  constructor(parts: RecordParts, asked: { tool: unknown; action: string; context: AskedContext }) {
    const tool = typeof asked.tool === "string" && toolName.test(asked.tool) ? asked.tool : null;
    super(parts, asked.context, tool, { shown: tool ?? "", told: tool ?? "", action: asked.action });
    this.#span = new CallSpan(tool);
    this.#isWanted = parts.log !== null || this.#span.isRecording;
  }

  /** A guest has ended, or was stopped. Throws when its denied or failed uses cannot be recorded. */
  ran(beganMs: number, trail: Trail, fuelPolls: number | null): void {
    this.#waitMs ??= beganMs - this.beganMs;
    this.#guestMs += performance.now() - beganMs;
    this.lastStaged = null;
    const refusals = this.#isWanted ? this.#uses.add(trail) : [];
    for (const refusal of refusals) this.append({ kind: "use", ...this.named, ...refusal });
    if (fuelPolls !== null) this.#fuelPolls = (this.#fuelPolls ?? 0) + fuelPolls;
  }

  override staged(changes: Sized, granted?: Granted): void {
    super.staged(changes, granted, this.isMounted ? { mounted: true } : {});
  }

  /**
   * The call has ended. If it cannot be recorded, returns that failure, and the caller must not get the result. The
   * result of a committed call is never withheld: the log already has its changes.
   */
  end(failure: FailureName | null): ToolError | null {
    const entry = this.#isWanted ? this.#entry(failure) : null;
    const { head, failure: unrecorded } = entry ? this.appendLast(entry) : { head: null, failure: null };
    const withheld = this.isCommitted ? null : unrecorded;
    this.#span.end(withheld ?? failure, entry && { entry, head });
    this.parts.measures.callEnded({
      tool: this.found.plugin === null ? null : this.named.tool,
      failure: withheld ?? failure,
      durationMs: performance.now() - this.beganMs,
      waitMs: this.#waitMs,
      guestMs: this.#guestMs,
    });
    return withheld;
  }

  #entry(failure: FailureName | null): CallEntry {
    const [uses, staged] = [this.#uses, this.lastStaged];
    const { writes, trashed } = uses;
    const changed = this.durable ?? staged ?? { writes, trashed, removed: [], granted: [] };
    const isChanged = changed.writes.length + changed.trashed.length + changed.removed.length > 0;
    const stores = this.stores?.map(({ id, level, source }) => ({ store: id, access: source ?? noAccess, level }));
    return {
      kind: "call",
      ...this.named,
      ...this.fromCaller,
      ...(this.isMounted && { mounted: true as const }),
      ...this.found,
      reads: [...uses.reads.values()],
      lists: [...uses.lists.values()],
      ...(stores && { stores }),
      ...inRecord(changed),
      usesNotShown: uses.notShown + (staged ? 0 : uses.changesNotShown),
      usesDenied: uses.denied,
      usesFailed: uses.failed,
      changes: this.isCommitted ? "committed" : isChanged ? "dropped" : "none",
      fuelPolls: this.#fuelPolls,
      ...this.ended(failure),
    };
  }
}

const noAccess = "none" as const;

/** What an erasure takes away. */
export interface ErasedFacts {
  readonly contents: readonly NonNullable<UpkeepEntry["erased"]>[number][];
  /** Whose access ends. */
  readonly granted: readonly GrantChange[];
}

/** How many changes of grants one record holds. */
const grantedMax = 2 * sharingLimits.grantsMax;

/** The tools that the operation runs have their own records. */
export class UpkeepRecord extends OperationRecord {
  #erased: Pick<UpkeepEntry, "erased"> = {};
  /** How many removed files the last record does not name. */
  #hidden = 0;

  constructor(parts: RecordParts, asked: { name: string; action: string; context: AskedContext }) {
    super(parts, asked.context, null, { shown: "store", told: asked.name, action: asked.action });
  }

  /** A purge can remove any number of files: its last record names some of them. */
  override committed(...made: Parameters<OperationRecord["committed"]>): void {
    super.committed(...made);
    const { writes = [], trashed = [], removed = [] } = this.durable ?? {};
    for (const unnamed of [writes, trashed]) unnamed.length = 0;
    this.#hidden += removed.splice(auditLimits.recordFilesMax).length;
  }

  /** Records that everything of the user is about to be erased. If it throws, it must not be. */
  erasing({ contents, granted }: ErasedFacts): void {
    const erased = contents.map(({ scope, files, bytes }) => ({ scope, files, bytes }));
    this.#erased = { erased: erased.slice(0, auditLimits.recordUsesMax) };
    // A user can have more grants than one record holds.
    for (let at = 0; at === 0 || at < granted.length; at += grantedMax)
      this.staged([], granted.slice(at, at + grantedMax), at === 0 ? this.#erased : {});
  }

  /** See `CallRecord.end`. */
  end(failure: FailureName | null): ToolError | null {
    const { callId, userId } = this;
    const entry: UpkeepEntry = {
      kind: "upkeep",
      action: this.cause.tool,
      callId,
      userId,
      ...this.fromCaller,
      removed: this.durable?.removed ?? [],
      ...(this.#hidden > 0 && { removedHidden: this.#hidden }),
      ...(this.isCommitted && this.#erased),
      ...this.ended(failure),
    };
    const unrecorded = this.appendLast(entry).failure;
    return this.isCommitted ? null : unrecorded;
  }
}

/** Begins the records of a runtime's calls and operations, and closes the log after the last one. */
export class Recorder {
  /** Refused requests, as the log gets them, if there is one, and the operator. */
  readonly #refusals: readonly RefusalMinute[];
  #parts: RecordParts;
  #isClosed = false;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    const { log, onLog } = parts;
    const { refusalsShownPerMinute, refusalsLoggedPerMinute } = auditLimits;
    const shown = new RefusalMinute(refusalsShownPerMinute, (entry) => this.#attempt(() => log?.append(entry)));
    const logged = new RefusalMinute(refusalsLoggedPerMinute, (entry) => tellOperator(onLog, entry));
    this.#refusals = log === null ? [logged] : [shown, logged];
  }

  beginCall(tool: unknown, action: string, context: AskedContext): CallRecord {
    return new CallRecord(this.#parts, { tool, action, context });
  }

  beginUpkeep(name: string, action: string, context: AskedContext): UpkeepRecord {
    return new UpkeepRecord(this.#parts, { name, action, context });
  }

  /** Records a request that was refused before a tool was called. Never throws, whatever the argument. */
  refused(refusal: Refusal): void {
    if (this.#isClosed) return;
    const entry = refusedEntry(refusal);
    this.#parts.measures.refused(entry);
    for (const minute of this.#refusals) minute.add(entry);
  }

  /** Call this after all operations have ended. Later operations are not recorded: they do nothing. */
  close(): void {
    for (const minute of this.#refusals) minute.end();
    this.#isClosed = true;
    const { log } = this.#parts;
    this.#parts = { ...this.#parts, log: null };
    this.#attempt(() => log?.close());
  }

  /** Writes to the log. If that fails, the operator is told. Returns whether it was written. */
  #attempt(write: () => void): boolean {
    try {
      write();
      return true;
    } catch (error) {
      writeLog(this.#parts.onLog, { ...failureLine(error), tool: "log", userId: "", callId: "" });
      return false;
    }
  }
}
