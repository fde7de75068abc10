import type { FailureName } from "../../../shared/errors.ts";
import { auditLimits, sharingLimits } from "../../../shared/limits.ts";
import type { AskedContext } from "../../values/call-context.ts";
import type { GrantChange } from "../../values/store-grant.ts";
import type { ToolError } from "../../values/tool-error.ts";
import type { StagedEntry, UpkeepEntry } from "../audit-record.ts";
import type { RecordParts } from "./operation-record.ts";
import { OperationRecord } from "./operation-record.ts";

/** What an erasure takes away. */
export interface ErasedFacts {
  readonly contents: readonly NonNullable<UpkeepEntry["erased"]>[number][];
  /** Whose access ends. */
  readonly granted: readonly GrantChange[];
}

/** How many changes of grants one record holds. */
const grantedMax = 2 * sharingLimits.grantsMax;

/** Records one operation of the data's owner. The tools that it runs have their own records. */
export class UpkeepRecord extends OperationRecord {
  readonly #name: string;
  readonly #removed: UpkeepEntry["removed"] = [];
  #removedHidden = 0;
  #erasing: Pick<StagedEntry, "erased"> = {};
  #erased: Pick<UpkeepEntry, "erased"> = {};

  constructor(parts: RecordParts, asked: { name: string; action: string; context: AskedContext }) {
    super(parts, asked.context, { tool: null, shownTool: "store", told: asked.name, action: asked.action });
    this.#name = asked.name;
  }

  /** Records that everything of the user is about to be erased. If it throws, it must not be. */
  erasing({ contents, granted }: ErasedFacts): void {
    const erased = contents.map(({ scope, files, bytes }) => ({ scope, files, bytes }));
    this.#erasing = { erased: erased.slice(0, auditLimits.recordUsesMax) };
    this.staged([], granted.slice(0, grantedMax));
    this.#erased = this.#erasing;
    this.#erasing = {};
    // A user can have more grants than one record holds.
    for (let at = grantedMax; at < granted.length; at += grantedMax) {
      this.staged([], granted.slice(at, at + grantedMax));
    }
  }

  override committed(): void {
    super.committed();
    for (const file of this.stagedFiles?.removed ?? []) {
      if (this.#removed.length < auditLimits.recordFilesMax) this.#removed.push(file);
      else this.#removedHidden++;
    }
  }

  protected override get stagedFacts(): Partial<StagedEntry> {
    return this.#erasing;
  }

  /** A tool that the operation ran has committed changes. */
  toolHasCommitted(): void {
    super.committed();
  }

  /** See `CallRecord.end`. */
  end(failure: FailureName | null): ToolError | null {
    const { callId, userId } = this.named;
    const ofCall = { callId, userId, ...this.callerFacts };
    const hidden = this.#removedHidden > 0 && { removedHidden: this.#removedHidden };
    const erased = this.isCommitted && this.#erased;
    const ended = { removed: this.#removed, ...hidden, ...erased, ...this.historyFacts, ...this.outcome(failure) };
    const unrecorded = this.appendLast({ kind: "upkeep", action: this.#name, ...ofCall, ...ended }).failure;
    return this.isCommitted ? null : unrecorded;
  }
}
