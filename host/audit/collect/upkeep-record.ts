import type { FailureName } from "../../../shared/errors.ts";
import { auditLimits } from "../../../shared/limits.ts";
import type { AskedContext } from "../../values/call-context.ts";
import type { ToolError } from "../../values/tool-error.ts";
import type { UpkeepEntry } from "../audit-record.ts";
import type { RecordParts } from "./operation-record.ts";
import { OperationRecord } from "./operation-record.ts";

/** Records one operation of the data's owner. The tools that it runs have their own records. */
export class UpkeepRecord extends OperationRecord {
  readonly #name: string;
  readonly #removed: UpkeepEntry["removed"] = [];
  #removedHidden = 0;

  constructor(parts: RecordParts, asked: { name: string; action: string; context: AskedContext }) {
    super(parts, asked.context, { tool: null, shownTool: "store", action: asked.action });
    this.#name = asked.name;
  }

  override committed(): void {
    super.committed();
    for (const file of this.stagedFiles?.removed ?? []) {
      if (this.#removed.length < auditLimits.recordFilesMax) this.#removed.push(file);
      else this.#removedHidden++;
    }
  }

  /** A tool that the operation ran has committed changes. */
  toolHasCommitted(): void {
    super.committed();
  }

  /** See `CallRecord.end`. */
  end(failure: FailureName | null): ToolError | null {
    const { callId, userId } = this.named;
    const ofCall = { callId, userId, ...this.labelled };
    const hidden = this.#removedHidden > 0 && { removedHidden: this.#removedHidden };
    const ended = { removed: this.#removed, ...hidden, ...this.outcome(failure) };
    const unrecorded = this.appendLast({ kind: "upkeep", action: this.#name, ...ofCall, ...ended }).failure;
    return this.isCommitted ? null : unrecorded;
  }
}
