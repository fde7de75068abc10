/**
 * Commits one change set over several stores, all or nothing.
 *
 * The store with the lowest id leads. Every other store gets a record of its part, which alone means nothing. The
 * leader's record comes last and commits the change. Then all apply their parts. A part is marked durably before the
 * leader's record can go, because until then only that record shows that the part counts.
 * `host/store/RATIONALE.md` explains why.
 */
import type { StoreId } from "../../../values/store-id.ts";
import { StaleCall } from "../../plan-changes.ts";
import { newJointId } from "../commit/joint-mark.ts";
import type { HomeChange } from "../home-change.ts";
import type { HomeSession } from "../home-session.ts";
import { settleAll } from "../settle-all.ts";

/** One store's part, prepared. */
export interface JointPart {
  readonly id: StoreId;
  readonly session: HomeSession;
  readonly change: HomeChange;
}

/** The leader's id is lower than all others. */
export async function commitJoint(leader: JointPart, others: readonly JointPart[]): Promise<void> {
  const all = [leader, ...others];
  const recorded: HomeChange[] = [];
  const id = newJointId();
  try {
    const record = async ({ change }: JointPart): Promise<void> => {
      await change.record({ id, leader: leader.id });
      recorded.push(change);
    };
    await settleAll(others.map(record));
    for (const { change } of all) if (await change.isEdited()) throw new StaleCall();
    await leader.change.record({ id, others: others.map((part) => part.id) });
  } catch (error) {
    // While the leader's failed record can still appear after a power cut, the parts must wait for it.
    if (!leader.session.isBroken) for (const change of recorded) change.erase();
    for (const { change } of all) change.discard();
    throw error;
  }
  await applyAll(leader, others);
}

/** What cannot be applied now is applied by the next call that uses one of the stores. */
async function applyAll(leader: JointPart, others: readonly JointPart[]): Promise<void> {
  const isApplied = await leader.change.applyPart();
  const settled = await Promise.all(
    others.map(async ({ change }) => (await change.applyPart()) && (await change.settlePart())),
  );
  if (isApplied && settled.every(Boolean)) await leader.change.endJoint();
  for (const { session } of [leader, ...others]) session.place.checkCommitted();
}
