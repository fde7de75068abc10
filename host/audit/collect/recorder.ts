/** Begins the record of each call and each upkeep operation of a runtime, and closes the log after the last. */
import { causeLines } from "../../log/cause-line.ts";
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
    this.#refusals = new RefusalRecorder({ log: parts.log, note: (line) => this.#tell(line) });
  }

  beginCall(tool: unknown, action: string, context: AskedContext): CallRecord {
    return new CallRecord(this.#parts, { tool, action, context });
  }

  beginUpkeep(name: string, action: string, context: AskedContext): UpkeepRecord {
    return new UpkeepRecord(this.#parts, { name, action, context });
  }

  /** Something was refused before anything could be called. Never throws. */
  refused(refusal: Refusal): void {
    this.#refusals.add(refusal);
  }

  /** Nothing may be under way any more. What is asked for afterwards is not recorded: it does nothing. */
  close(): void {
    this.#refusals.close();
    const { log } = this.#parts;
    this.#parts = { ...this.#parts, log: null };
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
}
