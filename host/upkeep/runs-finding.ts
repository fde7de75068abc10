/** Whether the record of what runs have read is whole: if not, writes that name a run wait, and no tool says why. */
import { lostUntilMs, readRuns, renewRuns } from "../gate/known-runs.ts";
import type { KnownRuns } from "../gate/known-runs.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Finding } from "./finding.ts";
import type { Operation } from "./operation.ts";

const path = ".memcell/runs/trust.json";

export async function runsFindings(operation: Operation): Promise<Finding[]> {
  try {
    const known = await operation.holdRecords({ writes: false, isLookingOnly: true }, (records) =>
      readRuns(records, operation.now()),
    );
    return findingsOf(known, operation.now());
  } catch (error) {
    // Of what cannot be opened, the store's own findings say it.
    if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return [];
    throw error;
  }
}

function findingsOf(known: KnownRuns, nowMs: number): Finding[] {
  if (known.fault !== null) {
    const isLost = known.recorded === null;
    const message = isLost ? `${known.fault}: every run counts as one that has read untrusted text` : known.fault;
    const remedy = isLost
      ? "begin another one, by which every run until now has read untrusted text"
      : "add what the history says";
    return [{ problem: "runs-unreadable", path, message, remedy }];
  }
  const untilMs = lostUntilMs(known, nowMs);
  if (untilMs === null) return [];
  const until = new Date(untilMs).toISOString().slice(0, 10);
  const message = `it was lost: until ${until} every run counts as one that has read untrusted text`;
  return [{ problem: "runs-lost", path, message, remedy: null }];
}

/** Does nothing if it is whole. */
export async function mendRuns(operation: Operation): Promise<void> {
  await operation.holdRecords({ writes: true }, (records) => renewRuns(records, operation.now()));
}
