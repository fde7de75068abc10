/** Has each call and each upkeep operation of a runtime recorded, and so knows when the last has ended. */
import type { FailureName } from "../../../shared/errors.ts";
import { causeLines } from "../../log/cause-line.ts";
import type { LogLine } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import type { Refusal } from "../../values/refusal.ts";
import { asToolError } from "../../values/tool-error.ts";
import type { ToolError } from "../../values/tool-error.ts";
import type { ToolResult } from "../../values/tool-result.ts";
import type { AuditLog } from "../audit-log.ts";
import { CallAudit } from "./call-audit.ts";
import type { AuditParts } from "./call-audit.ts";
import { RefusalRecorder } from "./refusal-recorder.ts";
import { UpkeepAudit } from "./upkeep-audit.ts";

/** How something that was asked for has ended. */
type Outcome<Result> =
  | { readonly isDone: true; readonly result: Result }
  | { readonly isDone: false; readonly failure: ToolError };

export class Auditor {
  readonly #parts: Omit<AuditParts, "log">;
  readonly #refusals: RefusalRecorder;
  #log: AuditLog | null;
  #running = 0;
  readonly #onIdle: (() => void)[] = [];

  constructor({ log, ...parts }: AuditParts) {
    this.#log = log;
    this.#parts = parts;
    this.#refusals = new RefusalRecorder({ log, note: (line) => this.#tell(line) });
  }

  /** Throws what `work` throws, as a `ToolError`, and what keeps its result from being told. */
  async call(tool: unknown, action: string, work: (audit: CallAudit) => Promise<ToolResult>): Promise<ToolResult> {
    const audit = new CallAudit({ log: this.#log, ...this.#parts }, tool, action);
    return await this.#run(
      action,
      () => work(audit),
      (outcome) => {
        audit.end(outcome.isDone ? failureIn(outcome.result) : outcome.failure);
      },
    );
  }

  /** As `call`, for the owner of the data. */
  async upkeep<Result>(name: string, action: string, work: (audit: UpkeepAudit) => Promise<Result>): Promise<Result> {
    const audit = new UpkeepAudit({ log: this.#log, ...this.#parts }, name, action);
    return await this.#run(
      action,
      () => work(audit),
      (outcome) => {
        audit.end(outcome.isDone ? null : outcome.failure);
      },
    );
  }

  /** Something was refused before anything could be called. Never throws. */
  refused(refusal: Refusal): void {
    this.#refusals.add(refusal);
  }

  /** Resolves when nothing that was asked for is waiting or running any more. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Closes the log when everything has ended. What is asked for afterwards is not recorded: it does nothing. */
  async close(): Promise<void> {
    await this.idle();
    this.#refusals.close();
    const log = this.#log;
    this.#log = null;
    try {
      log?.close();
    } catch (error) {
      for (const line of causeLines([error])) this.#tell(line);
    }
  }

  /** A line about the log, for the operator. */
  #tell(line: LogLine): void {
    writeLog(this.#parts.onLog, { ...line, tool: "log", userId: "", callId: "" });
  }

  async #run<Result>(
    action: string,
    work: () => Promise<Result>,
    end: (outcome: Outcome<Result>) => void,
  ): Promise<Result> {
    this.#running++;
    try {
      const outcome = await outcomeOf(action, work);
      end(outcome);
      if (outcome.isDone) return outcome.result;
      throw outcome.failure;
    } finally {
      this.#running--;
      if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }
}

async function outcomeOf<Result>(action: string, work: () => Promise<Result>): Promise<Outcome<Result>> {
  try {
    return { isDone: true, result: await work() };
  } catch (error) {
    return { isDone: false, failure: asToolError(error, action) };
  }
}

const failureIn = (result: ToolResult): FailureName | null => (result.ok ? null : result.error);
