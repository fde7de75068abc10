import type { AuditEntry } from "./audit-record.ts";

/** Where a record stands, and the hash that the next one carries. */
export interface ChainHead {
  readonly seq: number;
  /** SHA-256 of the record's line, in hex. */
  readonly hash: string;
}

/**
 * Where and how a log is written.
 *
 * Beside the file lie its head (`<file>.head`, which says where the log ends) and the files that were full
 * (`<file>.<number of its first record>.jsonl`). Nothing of it is ever deleted, and nothing but the runtime may write it.
 *
 * @example
 * const auditLog: AuditLogOptions = { file: "log/audit.jsonl", onFailure: "refuse" };
 */
export interface AuditLogOptions {
  /**
   * The file that is written. It and the folders above it are made, for their owner only, when they are not there. It must
   * not lie in the folder that holds the users' files, and must be a plain file with one name; otherwise
   * `STORAGE_UNSAFE`. One runtime can write it at a time; another waits, and then is `BUSY`.
   */
  readonly file: string;
  /**
   * How large a file may become before the next begins. Bytes, from 65,536; default 67,108,864 (64 MiB). A file has at
   * least one record, which may be larger.
   */
  readonly fileBytesMax?: number;
  /**
   * What happens when a record cannot be written. `refuse`, the default: the call is refused (`STORAGE_FULL` or
   * `STORAGE_FAILED`), and nothing is committed that is not on record. `continue`: calls go on without, and the first
   * record that can be written again says how many were lost; when none can be until the end, only `onLog` is told. A log
   * that cannot be opened at all is refused in either case.
   */
  readonly onFailure?: "refuse" | "continue";
}

/** A log that one runtime writes. `openAuditLog` (`file-audit-log.ts`) makes one; without a log option there is none. */
export interface AuditLog {
  /**
   * Writes a record and returns where the chain then ends. Synchronous: when it returns, the system has the record, and the death of the
   * process does not take it away.
   *
   * Throws `STORAGE_FULL`, `STORAGE_FAILED` or `STORAGE_UNSAFE` when it cannot be written and the log is to fail closed,
   * and `INTERNAL` for an entry that has not the form of one; the log then is as before, and the next record tries again.
   * Set to go on, it returns `null`, and the next record that can be written is preceded by one that says how many were
   * lost.
   */
  append(entry: AuditEntry): ChainHead | null;

  /** Writes a last record, flushes, and lets others open the log; throws as `append` does. Again, it does nothing. */
  close(): void;
}
