import type { Event } from "./event.ts";

/** The events of a run at one moment. Nothing that is appended later changes it. */
export interface Snapshot {
  readonly agentId: string;
  readonly runId: string;
  /** In the order of their timestamps; equal ones in the order in which they were appended. */
  readonly events: readonly Event[];
  readonly meta: SnapshotMeta;
}

/** Facts about a run as a whole. */
export interface SnapshotMeta {
  /** The size of all its events. */
  readonly bytes: number;
  /** The number of files that hold them. */
  readonly segments: number;
  /** Lines that are no events, among those of this snapshot. Someone has damaged them; `memcell doctor` names them. */
  readonly damagedLines: number;
  /** For `loadSince`. */
  readonly cursor: string;
}
