import type { HeldHistory } from "./versions/held-history.ts";
import type { LoweredRun } from "./versions/lowered-runs.ts";

/** The kinds of records that the host keeps about a user: writes that wait, and what runs have read. */
export const recordKinds = ["pending", "runs"] as const;

export type RecordKind = (typeof recordKinds)[number];

/**
 * Small files of the host's own about a user, beside the scopes: no guest can name them, no list, search or export has
 * them, and an erasure removes them with the user. Must not be used after the work has ended.
 *
 * A name is 1 to 64 characters `[a-z0-9-]`. Whoever is held for reading only can `names`, `sizes` and `read`.
 */
export interface HeldRecords {
  /** Sorted. */
  names(kind: RecordKind): Promise<string[]>;

  /** The bytes of all records of a kind, by name. Reads none of them. */
  sizes(kind: RecordKind): Promise<ReadonlyMap<string, number>>;

  /** `null` if there is none. What it returns can be anything: people and other programs can write to a disk. */
  read(kind: RecordKind, name: string): Promise<string | null>;

  /** Replaces a record, or makes one, durably. Makes the user's folder if there is none. */
  write(kind: RecordKind, name: string, text: string): Promise<void>;

  /** The runs whose trust has fallen, by the user's history. */
  loweredRuns(): Promise<MarkedRuns>;

  /** Adds to the user's history, durably, that the trust of a run has fallen. */
  noteLowered(lowered: LoweredRun): Promise<void>;

  /** Removes a record, durably. Does nothing if there is none. */
  remove(kind: RecordKind, name: string): Promise<void>;
}

export interface MarkedRuns {
  /** The last to fall comes last. */
  readonly runs: readonly LoweredRun[];
  /** Whether no version of the history is missing. */
  readonly isWhole: boolean;
}

/**
 * What a commit decides about a record, under the same lock. A medium with transactions does all of it in one. Otherwise
 * `end` comes after the commit, and a process that is killed in between leaves what `begin` has written.
 */
export interface RecordDecision {
  /** Before the commit, which is not made if it throws. `history`: that of the files. */
  begin(records: HeldRecords, history: HeldHistory): Promise<void>;
  end(records: HeldRecords): Promise<void>;
}

const namePattern = /^[a-z0-9-]{1,64}$/;

export const isRecordName = (name: string): boolean => namePattern.test(name);

/** Throws a `RangeError` for a name that no record has. */
export function checkRecordName(name: string): void {
  if (!isRecordName(name)) throw new RangeError("A record's name has 1 to 64 characters a-z, 0-9 and -");
}
