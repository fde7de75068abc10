import { randomUUID } from "node:crypto";

import type { FailureName } from "../../../shared/errors.ts";
import { causeLines } from "../../log/cause-line.ts";
import type { Committer } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import { namesIn, readContext } from "../../values/call-context.ts";
import type { AskedContext, CallContext } from "../../values/call-context.ts";
import type { Labels } from "../../values/call-labels.ts";
import type { SizedChange } from "../../values/change-set.ts";
import type { UpkeepEntry } from "../audit-record.ts";
import { appendTo, durationSince, outcomeOf } from "./call-audit.ts";
import type { AuditParts } from "./call-audit.ts";
import { changedBy } from "./changed-files.ts";

/** What is recorded of one operation of the data's owner. The tools that it runs have records of their own. */
export class UpkeepAudit {
  readonly #parts: AuditParts;
  readonly #name: string;
  readonly #action: string;
  readonly #beganMs = performance.now();
  readonly #removed: UpkeepEntry["removed"] = [];
  #callId: string = randomUUID();
  #userId: string | null = null;
  #labels: Labels | null = null;
  #hasCommitted = false;

  constructor(parts: AuditParts, name: string, action: string) {
    this.#parts = parts;
    this.#name = name;
    this.#action = action;
  }

  get callId(): string {
    return this.#callId;
  }

  /** For the calls of tools that the operation makes. */
  get labels(): Labels | undefined {
    return this.#labels ?? undefined;
  }

  /** As `CallAudit.nameFrom`. */
  nameFrom(ctx: CallContext | null | undefined): AskedContext {
    const asked = readContext(ctx);
    const { callId, userId, labels } = namesIn(asked);
    this.#callId = callId ?? this.#callId;
    this.#userId = userId;
    this.#labels = labels;
    return asked;
  }

  /** A tool that the operation has run has committed something. */
  toolHasCommitted(): void {
    this.#hasCommitted = true;
  }

  /** As `CallAudit.commit`. */
  async commit(changes: readonly SizedChange[], commit: () => Promise<void>): Promise<void> {
    if (changes.length === 0) return;
    const files = changedBy(changes);
    const named = { callId: this.#callId, userId: this.#userId, tool: null };
    appendTo(this.#parts.log, { kind: "staged", ...named, ...this.#labelled, ...files }, this.#action);
    await commit();
    this.#hasCommitted = true;
    this.#removed.push(...files.removed);
    this.#parts.onCommitted(changes, this.#teller);
  }

  /** As `CallAudit.end`. */
  end(failure: FailureName | null): void {
    const durationMs = durationSince(this.#beganMs);
    const ofCall = { callId: this.#callId, userId: this.#userId, ...this.#labelled };
    const ended = { removed: this.#removed, ...outcomeOf(failure), durationMs };
    const entry = { kind: "upkeep", action: this.#name, ...ofCall, ...ended } as const;
    try {
      appendTo(this.#parts.log, entry, this.#action);
    } catch (error) {
      for (const line of causeLines([error])) writeLog(this.#parts.onLog, { ...line, ...this.#teller });
      if (!this.#hasCommitted) throw error;
    }
  }

  get #labelled(): Pick<UpkeepEntry, "labels"> {
    return this.#labels === null ? {} : { labels: this.#labels };
  }

  get #teller(): Committer {
    return { tool: "store", userId: this.#userId ?? "", callId: this.#callId };
  }
}
