import type { ChainHead } from "../log-file/chain.ts";
import type { AuditEntry } from "./audit-record.ts";

/**
 * Where and how a log is written.
 *
 * The log's folder also holds its head (`<file>.head`, which says where the log ends) and its full files
 * (`<file>.<number of the first record>.jsonl`). The runtime never deletes any of them. Nothing else may write to them.
 *
 * @example
 * const auditLog: AuditLogOptions = { file: "log/audit.jsonl", onFailure: "refuse" };
 */
export interface AuditLogOptions {
  /**
   * The log's file. If it or the folders above it are missing, they are created with access for their owner only. It
   * must be outside the folder that holds the users' files, and a plain file with one name; otherwise `STORAGE_UNSAFE`.
   * One runtime can write it at a time; another one reports to `onLog` that it waits, for `waitMs` at most, and then
   * fails with `BUSY`.
   */
  readonly file: string;
  /**
   * The size at which the next file begins. Bytes, at least 65,536; default 67,108,864 (64 MiB). A file holds at least
   * one record, which can be larger.
   */
  readonly fileBytesMax?: number;
  /**
   * What happens when a record cannot be written. `refuse`, the default: the call is refused (`STORAGE_FULL`, `STORAGE_BUSY`
   * or `STORAGE_FAILED`), and nothing is committed without a record. `continue`: calls continue without records, and the
   * next record that can be written says how many were lost; if there is none, only `onLog` reports the number. Both
   * refuse a log that cannot be opened.
   */
  readonly onFailure?: "refuse" | "continue";
}

/** A log that one runtime writes. `openAuditLog` (`open-audit-log.ts`) creates it if the runtime has a log option. */
export interface AuditLog {
  /**
   * Writes a record and returns where the chain then ends. Synchronous: when it returns, the operating system has the
   * record, which survives a crash of the process.
   *
   * With `onFailure: "refuse"` it throws `STORAGE_FULL`, `STORAGE_BUSY`, `STORAGE_FAILED` or `STORAGE_UNSAFE` when it cannot write, and
   * `INTERNAL` for an invalid entry. The log is then unchanged, and the next call tries again. With `"continue"` it
   * returns `null` instead, and a record with the number of lost records precedes the next one that can be written.
   */
  append(entry: AuditEntry): ChainHead | null;

  /** Writes a last record, flushes, and releases the log. Throws as `append` does. A second call does nothing. */
  close(): void;
}
