import { ToolError } from "../../../values/tool-error.ts";

const kib = 1024;

/** Bounds of a WAL. */
export const walLimits = {
  /** What is left of it, filled with zeros, when its user is idle: a record that makes the file grow costs more to flush. */
  idleBytes: 64 * kib,
  /**
   * When any of these is reached, each touched file is flushed and the records are dropped. Higher limits mean fewer
   * flushes per call. But another process then needs longer to read the WAL, 8 ms per MiB, and the user's next call
   * waits longer while the files are flushed.
   */
  retireBytes: 4096 * kib,
  retireRecords: 512,
  retireFiles: 128,
  /** A larger file is not a WAL of ours; none is written. */
  walBytesMax: 512 * kib * kib,
} as const;

/** A longer WAL would be refused when it is read again. */
export function refuseLength(bytes: number): void {
  if (bytes <= walLimits.walBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its WAL would take ${bytes} bytes, at most ${walLimits.walBytesMax} allowed`,
  );
}
