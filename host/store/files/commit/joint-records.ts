/** What a WAL's records say about changes of several stores. */
import type { StoredRecord } from "./find-records.ts";
import { isOfLeader } from "./joint-mark.ts";
import type { JointMark } from "./joint-mark.ts";

interface Recorded {
  readonly records: readonly StoredRecord[];
}

/** The mark of the last record; `null` if it has none. */
export const lastJointOf = ({ records }: Recorded): JointMark | null => records.at(-1)?.joint ?? null;

/** As `lastJointOf`, if the record is not marked as applied. Then only the other stores show whether it counts. */
export const unresolvedOf = (wal: Recorded): JointMark | null =>
  wal.records.at(-1)?.isApplied === false ? lastJointOf(wal) : null;

/** Whether a change of several stores was committed by a record here. */
export const hasCommitted = ({ records }: Recorded, jointId: string): boolean =>
  records.some(({ joint }) => joint !== undefined && isOfLeader(joint) && joint.id === jointId);
