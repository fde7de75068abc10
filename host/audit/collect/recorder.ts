/** Begins the records of a runtime's calls and upkeep operations, and closes the log after the last one. */
import { failureLine } from "../../log/failure-line.ts";
import type { LogLine } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import type { AskedContext } from "../../values/call-context.ts";
import type { Refusal } from "../../values/refusal.ts";
import { CallRecord } from "./call-record.ts";
import type { RecordParts } from "./operation-record.ts";
import { RefusalRecorder } from "./refusal-recorder.ts";
import { UpkeepRecord } from "./upkeep-record.ts";

export class Recorder {
  readonly #refusals: RefusalRecorder;
  #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
    this.#refusals = new RefusalRecorder({ ...parts, note: (line) => this.#tell(line) });
  }

  beginCall(tool: unknown, action: string, context: AskedContext): CallRecord {
    return new CallRecord(this.#parts, { tool, action, context });
  }

  beginUpkeep(name: string, action: string, context: AskedContext): UpkeepRecord {
    return new UpkeepRecord(this.#parts, { name, action, context });
  }

  /** Records a request that was refused before a tool was called. Never throws. */
  refused(refusal: Refusal): void {
    this.#refusals.add(refusal);
  }

  /** Call this after all operations have ended. Later operations are not recorded: they do nothing. */
  close(): void {
    this.#refusals.close();
    const { log } = this.#parts;
    this.#parts = { ...this.#parts, log: null };
    try {
      log?.close();
    } catch (error) {
      this.#tell(failureLine(error));
    }
  }

  /** Writes a line about the audit log to the operator's log. */
  #tell(line: LogLine): void {
    writeLog(this.#parts.onLog, { ...line, tool: "log", userId: "", callId: "" });
  }
}
