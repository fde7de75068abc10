import type { FailureName } from "../../../shared/errors.ts";
import { spanLimits } from "../../../shared/limits.ts";
import { toolName } from "../../../shared/manifest.ts";
import type { AskedContext } from "../../values/call-context.ts";
import type { DecidedStore } from "../../values/decided-stores.ts";
import type { ToolError } from "../../values/tool-error.ts";
import type { ChainHead } from "../audit-log.ts";
import type { CallEntry } from "../audit-record.ts";
import { guarded, instrumentationName, openTelemetry } from "./open-telemetry.ts";
import type { Span } from "./open-telemetry.ts";
import type { ChangedFiles, CommittedPart, RecordParts } from "./operation-record.ts";
import { changedBy, OperationRecord } from "./operation-record.ts";
import { readTrail, TotalUses } from "./read-trail.ts";
import type { Trail } from "./trail-memory.ts";

/** The plugin of the called tool, and the tool's grant. */
export type FoundTool = Pick<CallEntry, "plugin" | "scopes" | "rights">;

/**
 * Records one call: each denied or failed use when the guest has ended, the changes before they are committed, and
 * finally the call itself.
 */
export class CallRecord extends OperationRecord {
  readonly #span: CallSpan;
  /** The uses of the call's guests; `null` when nothing is recorded, or no guest has run. */
  #uses: TotalUses | null = null;
  #found: FoundTool = { plugin: null, scopes: [], rights: [] };
  #isMounted = false;
  #stores: CallEntry["stores"];
  /** The files of all its commits. */
  readonly #committed: ChangedFiles = { writes: [], trashed: [], removed: [] };
  #fuelPolls: number | null = null;
  #waitMs: number | null = null;
  #guestBeganMs = 0;
  #guestMs = 0;

  /** `asked.tool` is the caller's unchecked value. */
  constructor(parts: RecordParts, asked: { tool: unknown; action: string; context: AskedContext }) {
    const tool = typeof asked.tool === "string" && toolName.test(asked.tool) ? asked.tool : null;
    super(parts, asked.context, { tool, shownTool: tool ?? "", told: tool ?? "", action: asked.action });
    this.#span = startCallSpan(tool);
  }

  /** `isMounted`: whether the tool's scopes are in a mounted folder for this user. */
  found(tool: FoundTool, isMounted: boolean): void {
    this.#found = tool;
    this.#isMounted = isMounted;
  }

  /** The host has decided about these shared stores. */
  reached(stores: readonly DecidedStore[]): void {
    this.#stores = stores.map(({ id, level, source }) => ({ store: id, access: source ?? "none", level }));
  }

  /** A guest begins: for everything that it needs, the call has waited. */
  guestBegins(): void {
    this.#waitMs ??= this.elapsedMs;
    this.#guestBeganMs = this.elapsedMs;
  }

  /**
   * A guest has ended, or was stopped. `trail`: `null` if no thread has got it. Throws when its denied or failed uses
   * cannot be recorded.
   */
  guestEnded(trail: Trail): void {
    this.#guestMs += this.elapsedMs - this.#guestBeganMs;
    this.stagedFiles = null;
    if (!this.#isWanted) return;
    const uses = readTrail(trail);
    this.#uses ??= new TotalUses();
    this.#uses.add(uses);
    for (const refusal of uses.refusals) this.append({ kind: "use", ...this.named, ...refusal });
  }

  /** Adds the polls of the guest that has just ended. */
  used(fuelPolls: number | null): void {
    if (fuelPolls !== null) this.#fuelPolls = (this.#fuelPolls ?? 0) + fuelPolls;
  }

  /**
   * The call has ended. If it cannot be recorded, returns that failure, and the caller must not get the result. The
   * result of a committed call is never withheld: the log already has its changes.
   */
  end(failure: FailureName | null): ToolError | null {
    const entry = this.#isWanted ? this.#entry(failure) : null;
    const { head, failure: unrecorded } = entry ? this.appendLast(entry) : { head: null, failure: null };
    const withheld = this.isCommitted ? null : unrecorded;
    this.#span.end(withheld ?? failure, () => (entry ? spanAttributes(entry, head) : {}));
    this.parts.measures.callEnded({
      tool: this.#found.plugin === null ? null : this.named.tool,
      failure: withheld ?? failure,
      durationMs: this.elapsedMs,
      waitMs: this.#waitMs,
      guestMs: this.#guestMs,
    });
    return withheld;
  }

  override committed(part?: CommittedPart): void {
    super.committed(part);
    const { writes = [], trashed = [], removed = [] } = (part ? changedBy(part.changes) : this.stagedFiles) ?? {};
    this.#committed.writes.push(...writes);
    this.#committed.trashed.push(...trashed);
    this.#committed.removed.push(...removed);
  }

  protected override get stagedFacts(): Pick<CallEntry, "mounted"> {
    return this.#isMounted ? { mounted: true } : {};
  }

  get #isWanted(): boolean {
    return this.parts.log !== null || this.#span.isRecording;
  }

  #entry(failure: FailureName | null): CallEntry {
    const uses = this.#uses ?? new TotalUses();
    const staged = this.stagedFiles ?? { writes: uses.writes, trashed: uses.trashed, removed: [] };
    const files = this.isCommitted ? this.#committed : staged;
    const { durationMs, ...ended } = this.outcome(failure);
    const isChanged = files.writes.length + files.trashed.length + files.removed.length > 0;
    return {
      kind: "call",
      ...this.named,
      ...this.callerFacts,
      ...this.stagedFacts,
      ...this.#found,
      reads: uses.reads,
      lists: uses.lists,
      ...(this.#stores && { stores: this.#stores }),
      ...this.grantedFacts,
      ...files,
      ...this.historyFacts,
      usesNotShown: uses.notShown + (this.stagedFiles ? 0 : uses.changesNotShown),
      usesDenied: uses.denied,
      usesFailed: uses.failed,
      changes: this.isCommitted ? "committed" : isChanged ? "dropped" : "none",
      ...ended,
      fuelPolls: this.#fuelPolls,
      durationMs,
    };
  }
}

/** The name in the semantic conventions for generative AI. */
const spanOperation = "execute_tool";

/** One OpenTelemetry span for each call. Without an SDK it records nothing. */
interface CallSpan {
  /** Whether the span is recorded. */
  readonly isRecording: boolean;
  /** Calls `attributes` only if the span is recorded. */
  end(failure: FailureName | null, attributes: () => SpanAttributes): void;
}

/** Starts a child of the span that is active where the call is made. */
function startCallSpan(tool: string | null): CallSpan {
  const api = openTelemetry();
  if (api === null) return unseen;
  const { trace, SpanKind, SpanStatusCode } = api;
  const span = guarded(() =>
    trace.getTracer(instrumentationName).startSpan(tool === null ? spanOperation : `${spanOperation} ${tool}`, {
      kind: SpanKind.INTERNAL,
      attributes: { "gen_ai.operation.name": spanOperation, ...(tool !== null && { "gen_ai.tool.name": tool }) },
    }),
  );
  const isRecording = guarded(() => span?.isRecording()) === true;
  const describe = (of: Span, failure: FailureName | null, attributes: SpanAttributes): void => {
    of.setAttributes(attributes);
    if (failure === null) return;
    of.setAttribute("error.type", failure.code);
    if (failure.of) of.setAttribute("memcell.error.of", failure.of);
    of.setStatus({ code: SpanStatusCode.ERROR });
  };
  return {
    isRecording,
    end: (failure, attributes) => {
      if (isRecording && span) guarded(() => describe(span, failure, attributes()));
      guarded(() => span?.end());
    },
  };
}

/** A span that is not recorded. */
const unseen: CallSpan = { isRecording: false, end: () => {} };

type SpanAttributes = Record<string, string | number | boolean | string[] | number[]>;

/**
 * A call's record as the attributes of its span. Only the first paths are included. A missing file has -1 bytes. Fields
 * that are `null` in the record are left out.
 */
function spanAttributes(entry: CallEntry, head: ChainHead | null): SpanAttributes {
  const { plugin, origin, reads, lists, writes, trashed, removed } = entry;
  const known = {
    "gen_ai.tool.call.id": entry.callId,
    "memcell.user.id": entry.userId,
    ...Object.fromEntries(Object.entries(entry.labels ?? {}).map(([name, text]) => [`memcell.label.${name}`, text])),
    "memcell.origin.class": origin?.class,
    "memcell.origin.run": origin?.run,
    "memcell.origin.turn": origin?.turn,
    "memcell.origin.source": origin?.source,
    "memcell.origin.exposed_to": origin?.exposedTo && [...origin.exposedTo],
    "memcell.plugin.name": plugin?.name,
    "memcell.plugin.version": plugin?.version,
    "memcell.plugin.sha256": plugin?.sha256,
    // Copies, because the record shares these lists with the tool's grant, and a span processor could change them.
    "memcell.scopes": [...entry.scopes],
    "memcell.rights": [...entry.rights],
    "memcell.mounted": entry.mounted,
    ...columns("memcell.reads", reads, { path: scopedPath, bytes: ({ bytes }) => bytes ?? -1 }),
    ...columns("memcell.lists", lists, {
      prefix: ({ scope, prefix }) => `${scope}/${prefix}`,
      files: ({ files }) => files,
    }),
    ...columns("memcell.stores", entry.stores ?? [], {
      id: ({ store }) => store,
      access: ({ access }) => access,
      level: ({ level }) => level ?? "",
    }),
    ...columns("memcell.granted", entry.granted ?? [], {
      id: ({ store }) => store,
      grantee: ({ grantee }) => grantee,
      level: ({ level }) => level ?? "",
    }),
    ...columns("memcell.writes", writes, sized),
    ...columns("memcell.trashed", trashed, { ...sized, trashed: (file) => `${file.scope}/${file.trashed}` }),
    ...columns("memcell.removed", removed, sized),
    "memcell.uses.not_shown": entry.usesNotShown,
    "memcell.uses.denied": entry.usesDenied,
    "memcell.uses.failed": entry.usesFailed,
    "memcell.changes": entry.changes,
    "memcell.fuel.polls": entry.fuelPolls,
    "memcell.duration_ms": entry.durationMs,
    "memcell.audit.seq": head?.seq,
    "memcell.audit.hash": head?.hash,
  };
  const present = Object.entries(known).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as SpanAttributes;
}

interface NamedFile {
  readonly scope: string;
  readonly path: string;
}

const scopedPath = ({ scope, path }: NamedFile): string => `${scope}/${path}`;
const sized = { path: scopedPath, bytes: ({ bytes }: { readonly bytes: number }) => bytes };

/** One list for each property, all of the same length, because attributes cannot contain objects. */
function columns<Item>(
  name: string,
  items: readonly Item[],
  read: Readonly<Record<string, (item: Item) => string | number>>,
): SpanAttributes {
  if (items.length === 0) return {};
  const shown = items.slice(0, spanLimits.pathsMax);
  const lists = Object.entries(read).map(([key, of]) => [`${name}.${key}`, shown.map((item) => of(item))]);
  return Object.fromEntries([[`${name}.count`, items.length], ...lists]) as SpanAttributes;
}
