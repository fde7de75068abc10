/** The approval of a write that waits, as a decision of the commit that applies it. */
import type { HeldRecords, RecordDecision } from "../store/held-records.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import { decisionAbout, decisionsIn, noteDecisions, notWaiting } from "./decisions.ts";
import type { Decision } from "./decisions.ts";
import { findPending } from "./pending-writes.ts";

export interface AskedDecision {
  readonly id: string;
  readonly action: string;
  readonly clock: () => number;
}

export class ApprovedWrite implements RecordDecision {
  readonly #asked: AskedDecision;
  #hasBegun = false;

  constructor(asked: AskedDecision) {
    this.#asked = asked;
  }

  /** Throws `ENTRY_NOT_FOUND` if the write does not wait any more. */
  async begin(records: HeldRecords, history: HeldHistory): Promise<void> {
    const { id, action, clock } = this.#asked;
    const atMs = clock();
    const before = await decisionAbout(records, id);
    if ((await findPending(records, id, atMs)) === null) throw notWaiting(action, id, before);
    if (before !== null && (await hasApproved(history, id))) {
      await records.remove("pending", id);
      throw notWaiting(action, id, before);
    }
    await noteDecisions(records, [{ id, how: "approved", atMs, by: null }]);
    this.#hasBegun = true;
  }

  /** Whether a commit has asked for it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async end(records: HeldRecords): Promise<void> {
    await records.remove("pending", this.#asked.id);
  }
}

/** Whether a change set of these files is the approved one. */
export const hasApproved = async (history: HeldHistory, id: string): Promise<boolean> =>
  (await history.versions()).some(({ approval }) => approval === id);

/** Those that were begun, and of which only the history knows whether they were made: their writes still wait. */
export async function begunApprovals(records: HeldRecords): Promise<Decision[]> {
  const decided = await decisionsIn(records);
  if (decided.length === 0) return [];
  const waiting = new Set(await records.names("pending"));
  return decided.filter(({ id, how }) => how === "approved" && waiting.has(id));
}
