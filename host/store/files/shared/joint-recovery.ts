/** Finishes changes of several stores that a killed process or a crash has left, or takes them back. */
import type { StoreId } from "../../../values/store-id.ts";
import { isOfLeader } from "../commit/joint-mark.ts";
import type { PartMark } from "../commit/joint-mark.ts";
import { hasCommitted, unresolvedOf } from "../commit/joint-records.ts";
import type { HomeSession } from "../home-session.ts";
import type { Homes } from "../homes.ts";
import type { Waiting } from "../open-session.ts";
import { lockStores } from "./lock-stores.ts";
import type { LockedStores } from "./lock-stores.ts";

/**
 * Resolves what the records of these stores leave open. That needs the other stores of their changes too, so no lock may
 * be held: all are taken again, in order.
 */
export async function resolveJoint(homes: Homes<StoreId>, ids: readonly StoreId[], waiting: Waiting): Promise<void> {
  const wanted = new Set(ids);
  for (;;) {
    // A record that this process has remembered as done can be missing in what it remembers.
    for (const id of wanted) homes.forget(id);
    // Without a lock, a store counts as one to which nobody has committed. So it must be the only reason for that.
    using locked = await lockStores(homes, [...wanted], { ...waiting, make: true, readOnlyWillDo: false });
    const linked = linkedTo(locked).filter((id) => !wanted.has(id));
    if (linked.length === 0) return await resolve(locked);
    for (const id of linked) wanted.add(id);
  }
}

/** The stores that the open records name. */
function linkedTo(locked: LockedStores): StoreId[] {
  return locked.sessions().flatMap(([, session]) => {
    const mark = unresolvedIn(session);
    if (mark === null) return [];
    return isOfLeader(mark) ? mark.others : [mark.leader];
  });
}

/** From the highest id to the lowest: a leader has a lower id than its parts, and its record must stay until they are done. */
async function resolve(locked: LockedStores): Promise<void> {
  const parts = new Map<HomeSession, boolean>();
  const followers = new Set<StoreId>();
  // All decisions come first: a recovery can drop records.
  for (const [, session] of locked.sessions()) {
    const mark = unresolvedIn(session);
    if (mark !== null && isOfLeader(mark)) for (const id of mark.others) followers.add(id);
    else if (mark !== null) parts.set(session, await isCommitted(locked.of(mark.leader), mark));
  }
  for (const [id, session] of locked.sessions().toReversed()) {
    const isValid = parts.get(session);
    if (isValid === false) await session.eraseLast();
    else if (unresolvedIn(session) !== null) await session.recover();
    // The leader can only be marked when the part is durably done, also if that was only lost with another process.
    if (isValid !== undefined) await session.settle();
    else if (followers.has(id)) await session.confirm();
  }
}

/** What it returns is durable: neither the leader's record nor its absence can change any more. */
async function isCommitted(leader: HomeSession | null, { id }: PartMark): Promise<boolean> {
  await leader?.confirm();
  return leader?.wal ? hasCommitted(leader.wal, id) : false;
}

const unresolvedIn = ({ wal }: HomeSession): ReturnType<typeof unresolvedOf> => wal && unresolvedOf(wal);
