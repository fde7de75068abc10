/** The stores that a user reaches, and the grants of the user's own: what `runtime.stores` does without a plugin. */
import { sharingLimits } from "../../shared/limits.ts";
import { presentValue } from "../../shared/text.ts";
import { changedGrants, grantsIn } from "../sharing/grants.ts";
import { StoresInQuestion } from "../sharing/stores-in-question.ts";
import { isLive } from "../store/grant-hints.ts";
import { ownStoreOf, storeOfName } from "../values/ids.ts";
import type { StoreId } from "../values/ids.ts";
import type { DecidedStores, StoreGrant } from "../values/store-grant.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";
import type { GrantedAccess, NewGrant, ReachableStore } from "./store-access.ts";

export async function listStores(operation: Operation): Promise<ReachableStore[]> {
  const { userId, stores, store, action, contextualAccess } = operation;
  const decided = await operation.inTurn(async (turn) => {
    const { until, signal } = turn;
    const parts = { store, contextualAccess, clock: () => operation.now() };
    const questions = new StoresInQuestion({ userId, stores, action, turn }, parts);
    await questions.add({ stores: [], isAll: true });
    const decide = (): Promise<DecidedStores> =>
      store.hold(questions.homes, "read", { as: questions.as, until, signal }, (held) => questions.decide(held));
    for (;;) {
      const now = await decide();
      if (!questions.isLacking) return now;
      await questions.askLacking();
    }
  });
  return decided.stores.flatMap(({ id, level, source }) => (level && source ? [{ id, level, source }] : []));
}

export async function listGrants(operation: Operation): Promise<GrantedAccess[]> {
  const grants = await operation.holdOwnStore("read", grantsIn);
  return grants
    .filter((each) => isLive(each, operation.now()))
    .map(({ grantee, level, grantedMs, expiresMs }) => ({
      grantee,
      level,
      grantedAt: new Date(grantedMs),
      expiresAt: expiresMs === null ? null : new Date(expiresMs),
    }));
}

/** Grants access to the user's own store, or replaces the grantee's grant. */
export async function grantAccess(operation: Operation, to: string, grant: NewGrant): Promise<void> {
  const { level = "read", expiresAt } = grant;
  const nowMs = operation.now();
  const expiresMs = expiresAt?.getTime() ?? null;
  if (expiresMs !== null && expiresMs <= nowMs) throw unfit(operation, "expiresAt", expiresAt, "a time in the future");
  await changeGrants(operation, to, (others, grantee) => {
    if (others.length < sharingLimits.grantsMax) return [...others, { grantee, level, grantedMs: nowMs, expiresMs }];
    const present = `the store has ${others.length} grants, at most ${sharingLimits.grantsMax} allowed`;
    throw new ToolError("QUOTA_EXCEEDED", `Cannot grant access: ${present}`);
  });
}

/** Returns whether there was a grant. */
export async function revokeAccess(operation: Operation, from: string): Promise<boolean> {
  return await changeGrants(operation, from, (others) => others);
}

/**
 * Leaves a store out of what is listed and searched, or no more, though the user still has the grant. Returns whether that
 * changed anything.
 */
export async function leaveStore(operation: Operation, store: string, isLeft: boolean): Promise<boolean> {
  const hints = await operation.store.hintsOf(ownStoreOf(operation.userId));
  if (isLeft && hints.every((hint) => hint.store !== store)) return false;
  return await operation.holdOwnStore("write", async ({ records }) => {
    const wasLeft = (await records.names("left")).includes(store);
    if (wasLeft === isLeft) return false;
    await (isLeft ? records.write("left", store, "") : records.remove("left", store));
    await records.commit();
    return true;
  });
}

/** Returns whether the grantee had a grant before. */
async function changeGrants(
  operation: Operation,
  named: string,
  change: (others: readonly StoreGrant[], grantee: StoreId) => readonly StoreGrant[],
): Promise<boolean> {
  const own = ownStoreOf(operation.userId);
  const grantee = granteeOf(operation, named, own);
  return await operation.holdOwnStore("write", async (held) => {
    const before = await grantsIn(held);
    const nowMs = operation.now();
    const live = before.filter((each) => isLive(each, nowMs));
    const others = live.filter((each) => each.grantee !== grantee);
    const after = change(others, grantee);
    const hadOne = others.length < live.length;
    if (!hadOne && after.length === others.length) return false;
    await operation.commitGrants(held, changedGrants(own, before, after, nowMs));
    return hadOne;
  });
}

/** The grantee's own store: by its id, or by a user id. */
function granteeOf(operation: Operation, named: string, own: StoreId): StoreId {
  const grantee = storeOfName(named);
  if (grantee !== null && grantee !== own) return grantee;
  throw unfit(operation, "grantee", named, "another user");
}

function unfit({ action }: Operation, field: string, value: unknown, allowed: string): ToolError {
  const issue = { field, value: presentValue(value), allowed };
  const message = `Cannot ${action}: ${field} is ${issue.value}; expected ${allowed}`;
  return new ToolError("INPUT_INVALID", message, { issues: [issue] });
}
