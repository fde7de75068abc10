import type { AuditEntry } from "./audit-record.ts";

/** Where a record stands, and the hash that the next one carries. */
export interface ChainHead {
  readonly seq: number;
  /** SHA-256 of the record's line, in hex. */
  readonly hash: string;
}

/** A log that one runtime writes. `openAuditLog` (`file-audit-log.ts`) makes one; without a log option there is none. */
export interface AuditLog {
  /**
   * Writes a record and returns its place. Synchronous: when it returns, the system has the record, and the death of the
   * process does not take it away.
   *
   * Throws `STORAGE_FULL` or `STORAGE_FAILED` when it cannot be written and the log is to fail closed; the log then is
   * as before, and the next record tries again. Set to go on, it returns `null`, and the next record that can be written
   * is preceded by one that says how many were lost.
   */
  append(entry: AuditEntry): ChainHead | null;

  /** Writes a last record and flushes. */
  close(): void;
}
