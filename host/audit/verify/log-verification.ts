import type { ChainHead } from "../audit-log.ts";

/**
 * What is found at one point of a log.
 *
 * - `removed`: records that were there are not
 * - `altered`: a record is not as it was written
 * - `unreadable`: a line is no record at all
 * - `displaced`: a record stands where it does not belong: moved, repeated or added
 * - `torn`: the end of a record is missing
 * - `head`: the log is not what its head, or what was noted elsewhere, says
 */
export type FindingKind = "removed" | "altered" | "unreadable" | "displaced" | "torn" | "head";

export interface LogFinding {
  readonly kind: FindingKind;
  /** The record that it is about, or the next one that is there. `null` when none can be named. */
  readonly seq: number | null;
  /** The file's name, without its folder. `null` when it is about no single file. */
  readonly file: string | null;
  /** From 1; `null` when it is about no single line. */
  readonly line: number | null;
  /** A sentence for a reviewer. Holds nothing of what a record says. */
  readonly text: string;
}

/** What became of checking a log. */
export interface LogVerification {
  /** Whether every record is there, in its place, and as it was written. */
  readonly isIntact: boolean;
  readonly files: number;
  /** Lines that are records, in whatever place. */
  readonly records: number;
  readonly bytes: number;
  /** The number of the first record; `null` in a log without any. */
  readonly firstSeq: number | null;
  /** Where the chain ends: to be noted elsewhere, for who can write to all of a log can write all of it anew. */
  readonly head: ChainHead | null;
  /** Whether anything but the log itself says where it ends: its head file, or what was noted elsewhere. */
  readonly isEndKnown: boolean;
  /** In the order in which the log was read; at most 1,000. */
  readonly findings: readonly LogFinding[];
  readonly findingsNotShown: number;
  /** What is no sign of a change, yet worth knowing: ends that a killed process left, records that were lost. */
  readonly notes: readonly string[];
}
