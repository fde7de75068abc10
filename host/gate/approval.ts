/** The approval of a write that waits, as a decision of the commit that applies it. */
import type { HostRecords } from "../store/host-records.ts";
import type { HeldHistory } from "../store/versions/held-history.ts";
import { decisionAbout, decisionsIn, noteDecisions, notWaiting } from "./decisions.ts";
import type { Decision } from "./decisions.ts";
import { findPending } from "./pending-writes.ts";

export interface AskedDecision {
  readonly id: string;
  readonly action: string;
  readonly clock: () => number;
}

export class ApprovedWrite {
  readonly #asked: AskedDecision;
  #hasBegun = false;

  constructor(asked: AskedDecision) {
    this.#asked = asked;
  }

  /**
   * Before the commit, which is not made if it throws. `history`: that of the files. Throws `ENTRY_NOT_FOUND` if the write
   * does not wait any more.
   */
  async begin(records: HostRecords, history: HeldHistory): Promise<void> {
    const { id, action, clock } = this.#asked;
    const atMs = clock();
    if ((await findPending(records, id, atMs)) === null) {
      throw notWaiting(action, id, await decisionAbout(records, id));
    }
    const made = (await approvalsIn(history)).get(id);
    if (made !== undefined) {
      await records.remove("pending", id);
      await records.commit();
      throw notWaiting(action, id, made);
    }
    await noteDecisions(records, [{ id, how: "approved", atMs, by: null }]);
    this.#hasBegun = true;
  }

  /** Whether a commit has asked for it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** After the commit, or in it. A process that is killed in between leaves what `begin` has written. */
  async end(records: HostRecords): Promise<void> {
    await records.remove("pending", this.#asked.id);
  }
}

/** The approvals that have changed these files, by the ids of their writes. */
export async function approvalsIn(history: HeldHistory): Promise<ReadonlyMap<string, Decision>> {
  const made = new Map<string, Decision>();
  for (const { approval, atMs } of await history.versions()) {
    if (approval !== undefined) made.set(approval, { id: approval, how: "approved", atMs, by: null });
  }
  return made;
}

/** Those that are noted, and whose writes still wait: only the history knows whether they were made. */
export async function begunApprovals(records: HostRecords): Promise<Decision[]> {
  const decided = await decisionsIn(records);
  if (decided.length === 0) return [];
  const waiting = new Set(await records.names("pending"));
  return decided.filter(({ id, how }) => how === "approved" && waiting.has(id));
}
