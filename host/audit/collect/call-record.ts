import type { FailureName } from "../../../shared/errors.ts";
import { toolName } from "../../../shared/manifest.ts";
import type { AskedContext } from "../../values/call-context.ts";
import type { ToolError } from "../../values/tool-error.ts";
import type { CallEntry } from "../audit-record.ts";
import type { RecordParts } from "./operation-record.ts";
import { OperationRecord } from "./operation-record.ts";
import { readTrail, TotalUses } from "./read-trail.ts";
import { spanAttributes } from "./span-attributes.ts";
import { startCallSpan } from "./telemetry.ts";
import type { CallSpan } from "./telemetry.ts";

/** The tool that was found, and what it is granted. */
export type FoundTool = Pick<CallEntry, "plugin" | "scopes" | "rights">;

/**
 * What is recorded of one call, from its beginning to its result: each denied or failed use when the guest has ended, what
 * is to be changed before it is committed, and the call itself at last.
 */
export class CallRecord extends OperationRecord {
  readonly #span: CallSpan;
  /** Of its guests; `null` when nobody wants to know, or none has run. */
  #uses: TotalUses | null = null;
  #found: FoundTool = { plugin: null, scopes: [], rights: [] };
  #isMounted = false;
  #fuelPolls: number | null = null;

  /** `asked.tool` is whatever the caller has named. */
  constructor(parts: RecordParts, asked: { tool: unknown; action: string; context: AskedContext }) {
    const tool = typeof asked.tool === "string" && toolName.test(asked.tool) ? asked.tool : null;
    super(parts, asked.context, { tool, shownTool: tool ?? "", action: asked.action });
    this.#span = startCallSpan(tool);
  }

  /** `isMounted`: whether the user's scopes of it lie in a mounted folder. */
  found(tool: FoundTool, isMounted: boolean): void {
    this.#found = tool;
    this.#isMounted = isMounted;
  }

  /** A guest has ended, or was ended. Throws when what it was denied cannot be recorded. */
  guestEnded(trail: SharedArrayBuffer): void {
    this.stagedFiles = null;
    if (!this.#isWanted) return;
    const uses = readTrail(trail);
    this.#uses ??= new TotalUses();
    this.#uses.add(uses);
    for (const refusal of uses.refusals) this.append({ kind: "use", ...this.named, ...refusal });
  }

  /** Polls of the guest that has just ended. */
  used(fuelPolls: number | null): void {
    if (fuelPolls !== null) this.#fuelPolls = (this.#fuelPolls ?? 0) + fuelPolls;
  }

  /**
   * The call has ended in a failure, or well. Returns why nobody may be told its result: because it cannot be recorded. A
   * call that has committed is in the log already, with all that it changed.
   */
  end(failure: FailureName | null): ToolError | null {
    const entry = this.#isWanted ? this.#entry(failure) : null;
    const { head, failure: unrecorded } = entry ? this.appendLast(entry) : { head: null, failure: null };
    const withheld = this.isCommitted ? null : unrecorded;
    this.#span.end(withheld ?? failure, () => (entry ? spanAttributes(entry, head) : {}));
    return withheld;
  }

  protected override get stagedFacts(): Pick<CallEntry, "mounted"> {
    return this.#isMounted ? { mounted: true } : {};
  }

  get #isWanted(): boolean {
    return this.parts.log !== null || this.#span.isRecording;
  }

  #entry(failure: FailureName | null): CallEntry {
    const uses = this.#uses ?? new TotalUses();
    const files = this.stagedFiles ?? { writes: uses.writes, trashed: uses.trashed, removed: [] };
    const { durationMs, ...ended } = this.outcome(failure);
    const isChanged = files.writes.length + files.trashed.length + files.removed.length > 0;
    return {
      kind: "call",
      ...this.named,
      ...this.labelled,
      ...this.stagedFacts,
      ...this.#found,
      reads: uses.reads,
      lists: uses.lists,
      ...files,
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
