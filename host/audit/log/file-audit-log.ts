import { ToolError } from "../../values/tool-error.ts";
import type { AuditLog, AuditLogOptions, ChainHead } from "../audit-log.ts";
import type { AuditEntry, PluginIdentity } from "../audit-record.ts";
import { checkAuditLogOptions } from "./audit-log-options.ts";
import type { LogWriter } from "./log-writer.ts";
import { openLogFiles } from "./open-log-files.ts";

/** What the runtime says of itself, and how long it waits for another. */
export interface AuditLogParts {
  /** Whether a file would lie among what users keep, where the log must not lie. */
  readonly isAmongUsers: (file: string) => boolean;
  readonly memcell: string;
  readonly plugins: readonly PluginIdentity[];
  /** SHA-256 of the policy. */
  readonly policy: string;
  /** For how long another runtime may go on writing the log, in milliseconds. */
  readonly waitMs: number;
  /** For the operator: what was found at the log's end, and when records are lost. */
  readonly note: (text: string) => void;
}

/**
 * Opens a log for writing, and writes that it was opened.
 *
 * Rejects with `BUSY` when another runtime keeps it, with `STORAGE_UNSAFE`, `STORAGE_FULL` or `STORAGE_FAILED` when it
 * cannot be opened or written, and with a `TypeError` or `RangeError` for options that make no sense.
 */
export async function openAuditLog(options: AuditLogOptions, parts: AuditLogParts): Promise<AuditLog> {
  const checked = checkAuditLogOptions(options);
  const { memcell, plugins, policy, note } = parts;
  const { writer, tornBytes, missing, head } = await openLogFiles(checked, parts);
  const log = new FileAuditLog(writer, { goesOn: checked.onFailure === "continue", note });
  try {
    if (missing > 0) note(`audit log: ${missing} records that were written are not there any more`);
    if (head === "differs") note("audit log: the last record is not as it was written");
    if (head === "lost") note("audit log: its head was not there; whether records are missing cannot be told");
    log.append({ kind: "opened", memcell, plugins: [...plugins], policy, tornBytes, missing, head });
    return log;
  } catch (error) {
    writer[Symbol.dispose]();
    throw error;
  }
}

interface FailurePlan {
  readonly goesOn: boolean;
  readonly note: (text: string) => void;
}

class FileAuditLog implements AuditLog {
  readonly #writer: LogWriter;
  readonly #plan: FailurePlan;
  /** Records that could not be written since the last that could. */
  #lost = 0;
  #isClosed = false;

  constructor(writer: LogWriter, plan: FailurePlan) {
    this.#writer = writer;
    this.#plan = plan;
  }

  append(entry: AuditEntry): ChainHead | null {
    if (this.#isClosed) throw new ToolError("CLOSED", "Cannot write the audit log: it is closed");
    try {
      return this.#lost === 0 ? this.#writer.append(entry) : this.#appendAfterLoss(entry);
    } catch (error) {
      if (!this.#plan.goesOn) throw error;
      if (this.#lost++ === 0) this.#plan.note(`audit log: calls go on without records: ${reasonOf(error)}`);
      return null;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    try {
      this.append({ kind: "closed" });
      this.#writer.flush();
    } catch (error) {
      if (!this.#plan.goesOn) throw error;
    } finally {
      this.#isClosed = true;
      this.#writer[Symbol.dispose]();
    }
    if (this.#lost > 0) this.#plan.note(`audit log: ${this.#lost} records were lost, and no record tells`);
  }

  /** Both or neither: on a disk that is nearly full the short one alone would be written again and again. */
  #appendAfterLoss(entry: AuditEntry): ChainHead {
    const head = this.#writer.append({ kind: "lost", records: this.#lost }, entry);
    this.#plan.note(`audit log: ${this.#lost} records were lost`);
    this.#lost = 0;
    return head;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : "the runtime failed");
